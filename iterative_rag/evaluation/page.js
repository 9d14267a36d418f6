"use strict";
// Filters the questions. Without script all of them are shown, and everything still opens.
const form = document.getElementById("filter");
const questions = [...document.querySelectorAll("details.q")];

function filter() {
  const { result, cause, text } = Object.fromEntries(new FormData(form));
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const one of questions) {
    const inside = words.length ? one.textContent.toLowerCase() : "";
    const fits =
      (!result || one.dataset.result === result) &&
      (!cause || one.dataset.cause === cause) &&
      words.every((word) => inside.includes(word));
    one.hidden = !fits;
    shown += fits;
  }
  document.getElementById("count").textContent = `${shown} of ${questions.length}`;
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.matches("details.q")) {
    if (target.hidden) {
      form.reset();
      filter();
    }
    target.open = true;
    target.scrollIntoView();
  }
}

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("open").addEventListener("click", (event) => {
  const shown = questions.filter((one) => !one.hidden);
  const open = shown.some((one) => !one.open);
  for (const one of shown) one.open = open;
  event.target.textContent = open ? "Close all" : "Open all";
});
addEventListener("hashchange", openTarget);
filter();
openTarget();
