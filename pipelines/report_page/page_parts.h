// The fixed parts of a page: its style sheet, for light and dark screens and for paper, and its script, which only
// reads values under the pointer and moves through slices. Without the script nothing is missing but these.
#pragma once

namespace voxshard {

/// Colours: --r0 to --r7 are those of the runs, of equal lightness within each scheme.
inline constexpr const char* kPageStyle = R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#5c6670;--rule:#e2e6ea;--panel:#f5f7f9;--alert:#fdf0d5;
--alert-edge:#c77700;--r0:#1f6fc0;--r1:#c2500c;--r2:#16815a;--r3:#8a46b8;--r4:#b3283c;--r5:#5f6b00;--r6:#00788a;--r7:#7a5230}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e9ec;--soft:#9aa5af;--rule:#2d343b;--panel:#1c2126;
--alert:#33280f;--alert-edge:#e0a030;--r0:#6db0f2;--r1:#f29357;--r2:#58c79a;--r3:#c792ea;--r4:#f2808f;--r5:#c3cf5a;--r6:#5cc8d8;--r7:#cfa27c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1100px;padding:20px 24px 60px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:26px;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:20px;margin:36px 0 10px;border-bottom:1px solid var(--rule);padding-bottom:4px}
h3{font-size:16px;margin:20px 0 6px;overflow-wrap:anywhere}p{max-width:80ch;overflow-wrap:anywhere}.soft,footer{color:var(--soft)}footer{margin-top:40px;font-size:13px}
.tiles{display:flex;flex-wrap:wrap;gap:10px;margin:16px 0}.tiles div{background:var(--panel);border-radius:8px;padding:8px 14px;min-width:120px}
.tiles b{display:block;font-size:20px;font-variant-numeric:tabular-nums}.tiles span{color:var(--soft);font-size:13px}
.alert{background:var(--alert);border-left:4px solid var(--alert-edge);padding:8px 14px;margin:14px 0;border-radius:0 6px 6px 0}.alert ul{margin:4px 0 0;padding-left:20px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px;margin:8px 0}
th,td{padding:3px 12px 3px 0;text-align:right;border-bottom:1px solid var(--rule);vertical-align:top}th[scope=col]{color:var(--soft);font-weight:600}
th:first-child{text-align:left;font-weight:400}thead th:first-child{font-weight:600}.missed{color:var(--r4);font-weight:700}
#data td,#settings td,#overview td,#differences td{text-align:left;overflow-wrap:anywhere;max-width:60ch}
#settings th[scope=col],#data th[scope=col],#overview th[scope=col],#differences th[scope=col]{text-align:left}
details{margin:8px 0}summary{cursor:pointer;color:var(--r0)}.chart{width:100%;height:auto;display:block;margin:6px 0}
.panels{display:flex;flex-wrap:wrap;gap:8px 12px}.panels .chart{width:auto;flex:0 0 auto}.panels svg{min-width:190px}
.line{fill:none;stroke-width:1.8}.dashed{stroke-dasharray:5 3}.faint{opacity:.35;stroke-width:1}.rule{stroke:var(--rule)}.axis{stroke:var(--soft)}
.tick{fill:var(--soft);font-size:11px}.name{fill:var(--ink);font-size:13px;font-weight:600}.tile{fill:var(--panel);stroke:var(--r0)}
.pointer{stroke:var(--soft);stroke-dasharray:2 2}
.r0{stroke:var(--r0)}.r1{stroke:var(--r1)}.r2{stroke:var(--r2)}.r3{stroke:var(--r3)}.r4{stroke:var(--r4)}.r5{stroke:var(--r5)}.r6{stroke:var(--r6)}.r7{stroke:var(--r7)}
.dot{fill:currentColor;stroke-width:3}.dot.r0{fill:var(--r0)}.dot.r1{fill:var(--r1)}.dot.r2{fill:var(--r2)}.dot.r3{fill:var(--r3)}
.dot.r4{fill:var(--r4)}.dot.r5{fill:var(--r5)}.dot.r6{fill:var(--r6)}.dot.r7{fill:var(--r7)}
.key{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px}.k0{background:var(--r0)}.k1{background:var(--r1)}.k2{background:var(--r2)}
.k3{background:var(--r3)}.k4{background:var(--r4)}.k5{background:var(--r5)}.k6{background:var(--r6)}.k7{background:var(--r7)}
.bars{width:100%;max-width:720px}.bars th{white-space:nowrap;overflow-wrap:normal}.bars td{white-space:nowrap}.bars .bar{width:60%;padding:6px 0}
.bars i{display:block;height:10px;background:var(--r0);border-radius:2px;min-width:1px}
#read{position:fixed;pointer-events:none;background:var(--panel);border:1px solid var(--rule);border-radius:6px;padding:4px 8px;font-size:13px;white-space:pre;display:none}
.slices{display:flex;flex-wrap:wrap;gap:12px}.slices figure{margin:0;flex:0 1 300px}.slices canvas{width:100%;image-rendering:pixelated;background:#000;touch-action:none;cursor:crosshair}
.slices input{width:100%}.slices figcaption{color:var(--soft);font-size:13px}.legend span{display:inline-block;margin-right:14px}
@media print{body{max-width:none}details:not([open]){display:none}.chart{break-inside:avoid}}
)css";

/// Shows the values of a chart under the pointer, from the JSON of the page.
inline constexpr const char* kPageScript = R"js(
(function(){
"use strict";
var data=JSON.parse(document.getElementById("report-data").textContent),read=document.getElementById("read");
function nearest(list,x){var best=-1;for(var i=0;i<list.length;i++)if(best<0||Math.abs(list[i].x-x)<Math.abs(list[best].x-x))best=i;return best<0?null:list[best];}
function points(run,series){
 if(series==="loss")return run.steps.step.map(function(s,i){return{x:s,y:run.steps.loss[i],of:""};});
 var c=series==="score"?-1:run.classes.indexOf(series.slice(6));
 return run.validations.filter(function(v){return series==="score"||c>=0;}).map(function(v){
  return{x:v.step,y:c<0?v.score:v.by_class[c],of:v.weights==="averaged"?" averaged":""};});
}
document.querySelectorAll("svg[data-series]").forEach(function(svg){
 var d=svg.dataset,lines=data.runs.map(function(run){return{name:run.name,list:points(run,d.series)};});
 function hide(){read.style.display="none";}
 svg.addEventListener("pointerleave",hide);
 svg.addEventListener("pointermove",function(e){
  var box=svg.getBoundingClientRect(),unit=svg.viewBox.baseVal.width/box.width,at=(e.clientX-box.left)*unit;
  var x=+d.x0+(at-d.left)/(d.right-d.left)*(d.x1-d.x0),text=[];
  lines.forEach(function(line){
   ["",  " averaged"].forEach(function(of){
    var p=nearest(line.list.filter(function(q){return q.of===of;}),x);
    if(p)text.push((data.runs.length>1?line.name+"  ":"")+"step "+p.x+of+"  "+(p.y===null?"-":p.y.toPrecision(4)));
   });
  });
  if(!text.length)return hide();
  read.textContent=text.join("\n");read.style.display="block";
  read.style.left=Math.min(e.clientX+14,innerWidth-read.offsetWidth-8)+"px";read.style.top=(e.clientY+14)+"px";
 });
});
var run=data.runs[0],show=document.getElementById("show-slices");
if(!show)return;
var window8={low:0,high:255},draws=[];
function bytes(text){var s=atob(text),all=new Uint8Array(s.length);for(var i=0;i<s.length;i++)all[i]=s.charCodeAt(i);return all;}
function colour(c){var h=c*137.508%360/60,x=Math.round(255*(1-Math.abs(h%2-1))),k=Math.floor(h);
 return[[255,x,60],[x,255,60],[60,255,x],[60,x,255],[x,60,255],[255,60,x]][k];}
function drawAll(){draws.forEach(function(draw){draw();});}
show.querySelectorAll("[data-label]").forEach(function(key){key.style.background="rgb("+colour(+key.dataset.label).join()+")";});
show.querySelectorAll("input[type=checkbox]").forEach(function(box){box.addEventListener("change",drawAll);});
show.querySelectorAll("figure").forEach(function(figure){
 var one=run.slices.cases[+figure.dataset.item],plane=one.planes[+figure.dataset.plane];
 var image=bytes(plane.image),truth=bytes(plane.reference),found=bytes(plane.prediction),rows=plane.rows,columns=plane.columns;
 var canvas=figure.querySelector("canvas"),range=figure.querySelector("input"),says=figure.querySelector("output"),context=canvas.getContext("2d");
 canvas.width=columns;canvas.height=rows;canvas.style.aspectRatio=(columns*plane.column_mm)+" / "+(rows*plane.row_mm);
 function draw(){
  var pixels=context.createImageData(columns,rows),first=range.value*rows*columns,turned=plane.plane!=="axial";
  var fills=document.getElementById("show-prediction").checked,outlines=document.getElementById("show-reference").checked;
  for(var r=0;r<rows;r++)for(var c=0;c<columns;c++){
   var at=first+r*columns+c,to=4*((turned?rows-1-r:r)*columns+c),t=truth[at],f=found[at];
   var grey=255*(image[at]-window8.low)/Math.max(1,window8.high-window8.low),rgb=[grey,grey,grey];
   if(fills&&f){var k=colour(f);rgb=rgb.map(function(v,i){return 0.55*Math.min(255,Math.max(0,v))+0.45*k[i];});}
   if(outlines&&t&&(r===0||c===0||r===rows-1||c===columns-1||truth[at-1]!==t||truth[at+1]!==t||truth[at-columns]!==t||truth[at+columns]!==t))rgb=colour(t);
   for(var i=0;i<3;i++)pixels.data[to+i]=rgb[i];
   pixels.data[to+3]=255;
  }
  context.putImageData(pixels,0,0);
  says.textContent=plane.plane+", slice "+plane.at[range.value];
 }
 range.addEventListener("input",draw);
 var from=null;
 canvas.addEventListener("pointerdown",function(e){from={x:e.clientX,y:e.clientY,low:window8.low,high:window8.high};canvas.setPointerCapture(e.pointerId);});
 canvas.addEventListener("pointerup",function(){from=null;});
 canvas.addEventListener("pointermove",function(e){
  if(!from)return;
  var centre=(from.low+from.high)/2+(from.y-e.clientY),width=Math.max(2,from.high-from.low+(e.clientX-from.x));
  window8={low:centre-width/2,high:centre+width/2};drawAll();
 });
 draws.push(draw);draw();
});
})();
)js";

}  // namespace voxshard
