// Before anything is painted: the theme that was chosen here before.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* no storage: the theme of the system */ }
document.documentElement.classList.add("scripted");
