"""Two hundred memories that would do harm if a page read them as anything but text."""

from __future__ import annotations

from itertools import cycle, islice

OUTSIDE = "http://127.0.0.1:9/reached"
"""Where nothing may ask for anything."""
_ATTACKS = (
    "<script>window.harmed = {n}</script>",
    '<img src="{outside}/{n}.png" onerror="window.harmed={n}">',
    "<svg onload=window.harmed={n}>",
    '<iframe src="javascript:parent.harmed={n}"></iframe>',
    '<a href="javascript:window.harmed={n}">press me</a>',
    "![picture]({outside}/{n}.png)",
    "[link](javascript:window.harmed={n})",
    "{{{{ window.harmed = {n} }}}}",
    "{{{{ constructor.constructor('window.harmed={n}')() }}}}",
    "${{window.harmed={n}}}",
    "`+(window.harmed={n})+`",
    '"><script>window.harmed={n}</script>',
    "'); window.harmed={n}; ('",
    "</script><script>window.harmed={n}</script>",
    "</textarea><img src=x onerror=window.harmed={n}>",
    "</title><svg/onload=window.harmed={n}>",
    '<style>@import "{outside}/{n}.css"; * {{ background: url({outside}/{n}.gif) }}</style>',
    '<link rel="stylesheet" href="{outside}/{n}.css">',
    '<meta http-equiv="refresh" content="0;url={outside}/{n}">',
    '<base href="{outside}/{n}/">',
    '<form action="{outside}/{n}"><button>Sign in again</button></form>',
    '<object data="{outside}/{n}"></object><embed src="{outside}/{n}">',
    '<video src="{outside}/{n}" autoplay onloadstart=window.harmed={n}></video>',
    "<details open ontoggle=window.harmed={n}>",
    "<math><mtext><mglyph><style><img src=x onerror=window.harmed={n}>",
    ":onclick=window.harmed={n} v-html=alert(1)",
    "data:text/html,<script>window.harmed={n}</script>",
    "\u202etxt.exe\u202c \u2066hidden\u2069 \u200f{n}",
    "\u0627\u0644\u0633\u0644\u0627\u0645 <b onmouseover=window.harmed={n}>",
    "A\u0300\u0301\u0302\u0303" + "\u0300" * 200 + " {n}",
    "alert({n}); confirm({n}); prompt({n})",
    "<x contenteditable autofocus onfocus=window.harmed={n}>",
    "&lt;script&gt;window.harmed={n}&lt;/script&gt;",
    "\\u003cscript\\u003ewindow.harmed={n}\\u003c/script\\u003e",
    "%3Cscript%3Ewindow.harmed%3D{n}%3C/script%3E",
    "<!-- --!><script>window.harmed={n}</script> -->",
    "]]><script>window.harmed={n}</script>",
    "__proto__[harmed]={n} constructor.prototype",
    "{n} " + "W" * 30_000,
    "{n}\n" * 2_000,
)
HOSTILE = tuple(
    attack.format(n=number, outside=OUTSIDE) for number, attack in enumerate(islice(cycle(_ATTACKS), 200), 1)
)
