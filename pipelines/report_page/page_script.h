// The script of a page. It reads values under the pointer, hides boxes, and moves through slices; without it nothing is
// missing but these. It reads the JSON of the page and loads nothing.
#pragma once

namespace voxshard {

/// Shows the values of a chart under the pointer, and hides what a box is not checked for.
inline constexpr const char* kChartScript = R"js(
(function(){
"use strict";
var data=JSON.parse(document.getElementById("report-data").textContent),read=document.getElementById("read");
function nearest(list,x){
 var best=null;
 list.forEach(function(point){if(best===null||Math.abs(point.x-x)<Math.abs(best.x-x))best=point;});
 return best;
}
// The points of a chart of one run: the loss of the steps, the scores of the validations, or precision over recall.
function points(run,series){
 if(series==="loss")return run.steps.step.map(function(step,i){return{x:step,y:run.steps.loss[i],of:""};});
 var name=series.slice(series.indexOf(":")+1);
 if(series.indexOf("precision")===0){
  var detail=run.last_detail||run.best_detail;
  if(!detail||!detail.curves)return[];
  var at=detail.classes.map(function(one){return one["class"];}).indexOf(name);
  var curve=series==="precision"?detail.curves.all:detail.curves.by_class[at];
  return(curve||[]).map(function(y,i){return{x:detail.curves.recall[i],y:y,of:""};});
 }
 var c=series==="score"?-1:run.classes.indexOf(name);
 return run.validations.filter(function(){return series==="score"||c>=0;}).map(function(one){
  return{x:one.step,y:c<0?one.score:one.by_class[c],of:one.weights==="averaged"?" averaged":""};});
}
document.querySelectorAll("svg[data-series]").forEach(function(svg){
 var d=svg.dataset,lines=data.runs.map(function(run){return{name:run.name,list:points(run,d.series)};});
 function hide(){read.style.display="none";}
 svg.addEventListener("pointerleave",hide);
 svg.addEventListener("pointermove",function(e){
  var box=svg.getBoundingClientRect(),unit=svg.viewBox.baseVal.width/box.width,at=(e.clientX-box.left)*unit;
  var x=+d.x0+(at-d.left)/(d.right-d.left)*(d.x1-d.x0),text=[];
  lines.forEach(function(line){
   [""," averaged"].forEach(function(of){
    var p=nearest(line.list.filter(function(q){return q.of===of;}),x);
    if(p)text.push((data.runs.length>1?line.name+"  ":"")+d.x+" "+p.x+of+"  "+(p.y===null?"-":p.y.toPrecision(4)));
   });
  });
  if(!text.length)return hide();
  read.textContent=text.join("\n");read.style.display="block";
  read.style.left=Math.min(e.clientX+14,innerWidth-read.offsetWidth-8)+"px";read.style.top=(e.clientY+14)+"px";
 });
});
document.querySelectorAll("[data-toggles]").forEach(function(box){
 box.addEventListener("change",function(){
  document.querySelectorAll(box.dataset.toggles).forEach(function(one){one.style.display=box.checked?"":"none";});
 });
});
})();
)js";

/// Draws slices: an image in grey, labels of a prediction filled, those of a reference outlined. Image and reference
/// may be missing. A window is a part of 0 to 255, the bytes of an image, which are the values low to high of its case.
inline constexpr const char* kViewerScript = R"js(
(function(){
"use strict";
var show=document.getElementById("show-slices");
if(!show)return;
var data=JSON.parse(document.getElementById("report-data").textContent);
var cases=(data.runs?data.runs[0]:data).slices.cases,window8={low:0,high:255},draws=[];
function bytes(text){
 if(!text)return null;
 var letters=atob(text),all=new Uint8Array(letters.length);
 for(var i=0;i<letters.length;i++)all[i]=letters.charCodeAt(i);
 return all;
}
// The colours of class_colour() in io/image/overlay.cc: twelve that are told apart, then darker ones.
var table=[[230,70,70],[70,150,255],[255,200,40],[60,200,110],[200,110,255],[255,140,40],[60,215,215],[255,120,190],
 [170,220,60],[150,120,80],[120,120,255],[245,235,170]];
function colour(c){
 var shade=Math.pow(0.72,Math.floor((c-1)/12)%3);
 return table[(c-1)%12].map(function(v){return Math.round(v*shade);});
}
function isOn(id){var box=document.getElementById(id);return!box||box.checked;}
function drawAll(){draws.forEach(function(draw){draw();});}
show.querySelectorAll("[data-label]").forEach(function(key){key.style.background="rgb("+colour(+key.dataset.label).join()+")";});
show.querySelectorAll("input[type=checkbox]").forEach(function(box){box.addEventListener("change",drawAll);});
show.querySelectorAll("figure").forEach(function(figure){
 var one=cases[+figure.dataset.item],plane=one.planes[+figure.dataset.plane],rows=plane.rows,columns=plane.columns;
 var image=bytes(plane.image),truth=bytes(plane.reference),found=bytes(plane.prediction);
 var canvas=figure.querySelector("canvas"),range=figure.querySelector("input"),says=figure.querySelector("output");
 var context=canvas.getContext("2d"),turned=plane.plane!=="axial";  // the head is at the top
 canvas.width=columns;canvas.height=rows;
 canvas.style.aspectRatio=(columns*plane.column_mm)+" / "+(rows*plane.row_mm);
 function isEdge(labels,at,r,c){
  var label=labels[at];
  return r===0||c===0||r===rows-1||c===columns-1||labels[at-1]!==label||labels[at+1]!==label||
   labels[at-columns]!==label||labels[at+columns]!==label;
 }
 function pixel(at,r,c){
  var grey=image?255*(image[at]-window8.low)/Math.max(1,window8.high-window8.low):0,rgb=[grey,grey,grey];
  if(truth&&truth[at]&&isOn("show-reference")&&isEdge(truth,at,r,c))return colour(truth[at]);
  if(found[at]&&isOn("show-prediction")){
   var fill=colour(found[at]),opacity=image?0.45:0.9;
   rgb=rgb.map(function(v,i){return(1-opacity)*Math.min(255,Math.max(0,v))+opacity*fill[i];});
  }
  return rgb;
 }
 function draw(){
  var pixels=context.createImageData(columns,rows),first=range.value*rows*columns;
  for(var r=0;r<rows;r++)for(var c=0;c<columns;c++){
   var rgb=pixel(first+r*columns+c,r,c),to=4*((turned?rows-1-r:r)*columns+c);
   for(var i=0;i<3;i++)pixels.data[to+i]=rgb[i];
   pixels.data[to+3]=255;
  }
  context.putImageData(pixels,0,0);
  says.textContent=plane.plane+", slice "+plane.at[range.value]+(image?", window "+value(window8.low)+" to "+value(window8.high):"");
 }
 function value(v){return String(+(one.low+v/255*(one.high-one.low)).toPrecision(3));}
 range.addEventListener("input",draw);
 var from=null;
 canvas.addEventListener("pointerdown",function(e){
  from={x:e.clientX,y:e.clientY,low:window8.low,high:window8.high};canvas.setPointerCapture(e.pointerId);
 });
 canvas.addEventListener("pointerup",function(){from=null;});
 canvas.addEventListener("dblclick",function(){window8={low:0,high:255};drawAll();});
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
