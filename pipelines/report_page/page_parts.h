// The style sheet of a page, for light and dark screens and for paper.
#pragma once

namespace voxshard {

/// Colours: --r0 to --r7 are those of the runs, of equal lightness within each scheme.
inline constexpr const char* kPageStyle = R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#5c6670;--rule:#e2e6ea;--panel:#f5f7f9;--alert:#fdf0d5;
--alert-edge:#c77700;--shade:31,111,192;--r0:#1f6fc0;--r1:#c2500c;--r2:#16815a;--r3:#8a46b8;--r4:#b3283c;--r5:#5f6b00;--r6:#00788a;--r7:#7a5230}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e9ec;--soft:#9aa5af;--rule:#2d343b;--panel:#1c2126;
--alert:#33280f;--alert-edge:#e0a030;--shade:109,176,242;--r0:#6db0f2;--r1:#f29357;--r2:#58c79a;--r3:#c792ea;--r4:#f2808f;--r5:#c3cf5a;--r6:#5cc8d8;--r7:#cfa27c}}
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
.confusion td{background:rgba(var(--shade),calc(var(--Share)*.45));padding:3px 8px;text-align:center}.confusion th[scope=col]{padding-right:8px;text-align:center;overflow-wrap:anywhere;max-width:12ch;vertical-align:bottom}
.confusion th:first-child{text-align:left;max-width:20ch;overflow-wrap:anywhere}
.drawn{display:flex;flex-wrap:wrap;gap:16px}.drawn figure{margin:0;flex:0 1 340px}.drawn svg{width:100%;height:auto;display:block;background:#000}
.drawn rect{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}.drawn .wanted rect{stroke-dasharray:5 4}.drawn text{font-weight:600;stroke:#000;stroke-width:2.5px;paint-order:stroke;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.t0{fill:#6db0f2}.t1{fill:#f29357}.t2{fill:#58c79a}.t3{fill:#c792ea}.t4{fill:#f2808f}.t5{fill:#c3cf5a}.t6{fill:#5cc8d8}.t7{fill:#cfa27c}
.drawn .r0{stroke:#6db0f2}.drawn .r1{stroke:#f29357}.drawn .r2{stroke:#58c79a}.drawn .r3{stroke:#c792ea}.drawn .r4{stroke:#f2808f}.drawn .r5{stroke:#c3cf5a}.drawn .r6{stroke:#5cc8d8}.drawn .r7{stroke:#cfa27c}
#show-images .k0{background:#6db0f2}#show-images .k1{background:#f29357}#show-images .k2{background:#58c79a}#show-images .k3{background:#c792ea}#show-images .k4{background:#f2808f}#show-images .k5{background:#c3cf5a}#show-images .k6{background:#5cc8d8}#show-images .k7{background:#cfa27c}
@media print{body{max-width:none}details:not([open]){display:none}.chart{break-inside:avoid}}
)css";

}  // namespace voxshard
