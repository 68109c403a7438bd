// Pages in headless Chromium, for tests of what a reader sees: the page as the browser has it once its script has run,
// measured by a script of the test that is added to a copy. Debian's `chromium` is optional: a test without it says
// that it was skipped.
//
//   if (!chromium()) GTEST_SKIP() << kNoChromium;
//   const RenderedPage page = render(folder, "run/report.html", {.dark = true, .width = 400});
//   page.checks.at("overflow")
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "tests/scratch_folder.h"

namespace voxshard::test {

inline constexpr const char* kNoChromium = "there is no chromium: Debian's package renders the pages";

/// Returns the program; none where it is not installed.
inline std::optional<std::string> chromium() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string program = folder + "/chromium"; std::filesystem::exists(program)) return program;
  return std::nullopt;
}

struct Rendering {
  bool dark = false;
  int width = 1280;
};

struct RenderedPage {
  std::string dom;        // the page after its script
  nlohmann::json checks;  // what kChecks found
};

/// What is wrong with the look of a page, what it shows, and what its script does, as JSON in the element with the id
/// "checks". All folded parts are opened.
inline constexpr const char* kChecks = R"js(
(function(){
"use strict";
var found={contrast:[],overflow:[],cut:[],overlap:[],empty:[],outputs:[],numbers:[],canvases:0,
 paper:getComputedStyle(document.body).backgroundColor};
document.querySelectorAll("details").forEach(function(one){one.open=true;});
function rgba(text){var all=text.match(/[\d.]+/g).map(Number);return{rgb:all.slice(0,3),alpha:all.length>3?all[3]:1};}
function behind(one){
 if(!one)return[255,255,255];
 var own=rgba(getComputedStyle(one).backgroundColor);
 if(own.alpha===1)return own.rgb;
 var below=behind(one.parentElement);
 return own.rgb.map(function(v,i){return v*own.alpha+below[i]*(1-own.alpha);});
}
function luminance(rgb){
 var linear=rgb.map(function(v){v/=255;return v<=0.03928?v/12.92:Math.pow((v+0.055)/1.055,2.4);});
 return 0.2126*linear[0]+0.7152*linear[1]+0.0722*linear[2];
}
function contrast(a,b){
 var x=luminance(a)+0.05,y=luminance(b)+0.05;
 return x>y?x/y:y/x;
}
function name(one){return one.tagName.toLowerCase()+(one.id?"#"+one.id:"")+" '"+one.textContent.trim().slice(0,40)+"'";}
function hasText(one){
 return Array.prototype.some.call(one.childNodes,function(child){return child.nodeType===3&&child.textContent.trim();});
}
document.querySelectorAll("body *").forEach(function(one){
 if(["SCRIPT","STYLE","NOSCRIPT","title"].indexOf(one.tagName)>=0||one.closest("#read,noscript"))return;
 var box=one.getBoundingClientRect(),style=getComputedStyle(one);
 if(!box.width||!box.height)return;
 if(hasText(one)&&!one.closest(".drawn svg")){
  var ink=rgba(one.ownerSVGElement?style.fill:style.color).rgb,ratio=contrast(ink,behind(one));
  if(ratio<4.5)found.contrast.push(name(one)+" "+ratio.toFixed(2));
 }
 if(!one.closest(".scroll")&&!one.ownerSVGElement&&box.right>innerWidth+1)found.overflow.push(name(one)+" "+box.right);
});
if(document.documentElement.scrollWidth>innerWidth+1)found.overflow.push("page "+document.documentElement.scrollWidth);
document.querySelectorAll("svg.chart").forEach(function(svg){
 var view=svg.viewBox.baseVal,texts=Array.prototype.map.call(svg.querySelectorAll("text"),function(one){
  return{box:one.getBBox(),text:one.textContent};});
 texts.forEach(function(a,i){
  if(a.box.x<-1||a.box.y<-1||a.box.x+a.box.width>view.width+1||a.box.y+a.box.height>view.height+1)
   found.cut.push(svg.getAttribute("aria-label")+": "+a.text);
  texts.slice(i+1).forEach(function(b){
   var w=Math.min(a.box.x+a.box.width,b.box.x+b.box.width)-Math.max(a.box.x,b.box.x);
   var h=Math.min(a.box.y+a.box.height,b.box.y+b.box.height)-Math.max(a.box.y,b.box.y);
   if(w>1&&h>2)found.overlap.push(svg.getAttribute("aria-label")+": "+a.text+" / "+b.text);
  });
 });
 if(svg.dataset.series&&!Array.prototype.some.call(svg.querySelectorAll("path.line"),function(path){
  return path.getTotalLength()>0||svg.querySelector("circle");}))found.empty.push(svg.getAttribute("aria-label"));
});
document.querySelectorAll("canvas").forEach(function(canvas){
 ++found.canvases;
 var pixels=canvas.getContext("2d").getImageData(0,0,canvas.width,canvas.height).data,lit=false;
 for(var i=0;i<pixels.length&&!lit;i+=4)lit=pixels[i]+pixels[i+1]+pixels[i+2]>0;
 if(!lit)found.empty.push("canvas "+canvas.closest("figure").dataset.item);
});
document.querySelectorAll(".drawn image").forEach(function(image){
 if(!(image.getBBox().width>0))found.empty.push("image");
});
document.querySelectorAll("output").forEach(function(one){found.outputs.push(one.textContent);});
document.querySelectorAll("[data-value]").forEach(function(cell){
 found.numbers.push({table:cell.closest("table").id,row:cell.parentElement.firstElementChild.textContent,
  column:cell.cellIndex,value:+cell.dataset.value,text:cell.textContent});
});
// What the script of the page does when a reader points, drags and moves a slider.
function point(target,type,x,y){
 target.dispatchEvent(new PointerEvent(type,{clientX:x,clientY:y,bubbles:true,pointerId:1}));
}
var figure=document.querySelector("#show-slices figure"),chart=document.querySelector("svg[data-series]");
if(figure){
 var canvas=figure.querySelector("canvas"),range=figure.querySelector("input"),says=figure.querySelector("output");
 var before=canvas.toDataURL(),shows={first:says.textContent};
 point(canvas,"pointerdown",200,200);point(canvas,"pointermove",150,180);point(canvas,"pointerup",150,180);
 shows.dragged=says.textContent;shows.dragChanges=canvas.toDataURL()!==before;
 point(canvas,"pointermove",100,100);shows.released=says.textContent;
 canvas.dispatchEvent(new MouseEvent("dblclick"));shows.reset=says.textContent;shows.resetIsFirst=canvas.toDataURL()===before;
 var box=document.getElementById("show-prediction");
 box.click();shows.hideChanges=canvas.toDataURL()!==before;box.click();
 range.value=0;range.dispatchEvent(new Event("input"));shows.moved=says.textContent;
 found.viewer=shows;
}
if(chart&&document.getElementById("read")){
 var place=chart.getBoundingClientRect();
 point(chart,"pointermove",place.right-20,place.top+60);
 found.read=document.getElementById("read").textContent;
}
var hides=document.querySelector("[data-toggles]");
if(hides){
 hides.click();
 found.hidden=getComputedStyle(document.querySelector(hides.dataset.toggles)).display;
}
var all=document.createElement("pre");
all.id="checks";
all.textContent=JSON.stringify(found).replace(/[<>&]/g,"?");
document.body.appendChild(all);
})();
)js";

/// Runs chromium on a page; `words` are those of headless mode. Fails the test when it does not end well.
inline void run_chromium(const ScratchFolder& folder, const std::filesystem::path& page, const Rendering& how,
                         const std::string& words) {
  const std::string command =
      "timeout 120 " + chromium().value_or("chromium") +
      " --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-dev-shm-usage"
      " --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir=" +
      (folder / "profile") + " --window-size=" + std::to_string(how.width) + ",1000" +
      " --blink-settings=preferredColorScheme=" + (how.dark ? "0" : "1") + " " + words + " file://" + page.string() +
      " >" + (folder / "dom.html") + " 2>" + (folder / "log");
  const int status = std::system(command.c_str());
  ASSERT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0) << read_bytes(folder.path() / "log");
}

/// Renders a copy of a page with kChecks behind its own script.
inline RenderedPage render(const ScratchFolder& folder, const std::filesystem::path& page, const Rendering& how) {
  std::string html = read_bytes(page);
  const std::size_t end = html.rfind("</body>");
  if (end == std::string::npos) return {};
  const std::filesystem::path copy = folder.path() / "checked.html";
  std::ofstream(copy) << html.insert(end, "<script>" + std::string(kChecks) + "</script>");
  run_chromium(folder, copy, how, "--dump-dom");
  RenderedPage rendered{.dom = read_bytes(folder.path() / "dom.html"), .checks = {}};
  const std::string begin = "<pre id=\"checks\">";
  const std::size_t from = rendered.dom.find(begin);
  EXPECT_NE(from, std::string::npos) << "the script of the page stopped: " << read_bytes(folder.path() / "log");
  if (from == std::string::npos) return rendered;
  const std::size_t to = rendered.dom.find("</pre>", from);
  rendered.checks =
      nlohmann::json::parse(rendered.dom.substr(from + begin.size(), to - from - begin.size()), nullptr, false);
  return rendered;
}

/// Expects that nothing is wrong with the look of a page.
inline void expect_well_looking(const nlohmann::json& checks, const Rendering& how) {
  ASSERT_TRUE(checks.is_object()) << checks;
  for (const char* fault : {"contrast", "overflow", "cut", "overlap", "empty"})
    EXPECT_TRUE(checks.at(fault).empty())
        << fault << (how.dark ? ", dark, " : ", light, ") << how.width << " wide: " << checks.at(fault);
  EXPECT_EQ(checks.at("paper"), how.dark ? "rgb(20, 23, 26)" : "rgb(255, 255, 255)");
}

}  // namespace voxshard::test
