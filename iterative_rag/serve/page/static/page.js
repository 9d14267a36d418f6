// What JavaScript adds: hops as they happen, articles without a new page, copying, the theme. All of it is left out
// where there is none.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const announce = (text) => { const place = $("[data-announce]"); if (place) place.textContent = text; };

// --- theme ---------------------------------------------------------------------------------------

function themeSwitch() {
  const button = $("[data-theme-switch]");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const current = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  const tell = () => button.setAttribute("aria-label", `Switch to the ${current() === "dark" ? "light" : "dark"} theme`);
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = current() === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* not kept */ }
    tell();
  });
  tell();
}

// --- asking --------------------------------------------------------------------------------------

function askForm() {
  const text = $(".ask textarea");
  text?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && text.value.trim()) {
      event.preventDefault();
      text.form.requestSubmit();
    }
  });
}

// --- a run that goes on --------------------------------------------------------------------------

const ROLES = {
  analyse: "Analysing the question", rephrase: "Rephrasing the question", answer: "Writing the answer",
  grade: "Grading documents", reflect: "Checking the answer", plan: "Planning", extract: "Reading",
};

function liveRun() {
  const run = $("[data-live='yes']");
  if (!run) return;
  const address = `/runs/${run.dataset.run}`;
  const doing = $("[data-doing]", run), hops = $("[data-hops]", run), draft = $("[data-draft]", run);
  const seconds = $("[data-seconds]", run), read = $("[data-read]", run), withdrawn = $("[data-withdrawn]", draft);
  const began = Number(seconds.dataset.began) * 1000;
  const clock = setInterval(() => { seconds.textContent = Math.max(0, (Date.now() - began) / 1000).toFixed(0); }, 500);
  let wanted = false, busy = false;

  // The hops are drawn by the server; only those that changed are replaced, so that open parts and focus stay.
  async function refresh() {
    wanted = true;
    if (busy) return;
    busy = true;
    while (wanted) {
      wanted = false;
      const response = await fetch(`${address}/hops`);
      if (!response.ok) break;
      const fresh = document.createElement("template");
      fresh.innerHTML = await response.text();
      for (const hop of $$(".hop", fresh.content)) {
        const old = document.getElementById(hop.id);
        if (!old) hops.append(hop);
        else if (old.innerHTML !== hop.innerHTML && !old.contains(document.activeElement)) old.replaceWith(hop);
      }
    }
    busy = false;
  }

  const count = (name, number) => { const place = $(`[data-${name}]`, run); if (place) place.textContent = number.toLocaleString(); };

  function progress(told) {
    count("calls", told.calls);
    count("tokens", told.tokens);
    const reading = told.reading?.[0];
    read.max = reading?.of ?? 1;
    read.value = reading?.number ?? 0;
    if (reading) doing.textContent = `Reading ${reading.title} (${reading.number} of ${reading.of})`;
    else if (ROLES[told.role]) doing.textContent = ROLES[told.role];
  }

  const source = new EventSource(`/api/runs/${run.dataset.run}/events?after=${run.dataset.after}`);
  const on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
  const ended = () => { source.close(); clearInterval(clock); location.replace(address); };
  on("queued", (told) => { doing.textContent = `Waiting, place ${told.place} in line`; });
  on("started", () => { doing.textContent = "Working"; });
  on("progress", progress);
  on("text", (told) => {
    const written = $("p", draft);
    draft.hidden = false;
    draft.classList.remove("refused");
    withdrawn.hidden = true;
    written.textContent = [...written.textContent].slice(0, told.start).join("") + told.text;
    doing.textContent = "Writing the answer";
  });
  on("withdrawn", (told) => {
    draft.classList.add("refused");  // what comes next begins anew, at its first character
    withdrawn.textContent = `Taken back: ${told.reason}`;
    withdrawn.hidden = false;
    announce(withdrawn.textContent);
  });
  for (const name of ["planning", "shortlist", "grading", "correction", "web", "answering", "reflection", "degraded", "tool"]) {
    on(name, refresh);
  }
  on("followup", (told) => {
    if (told.question === told.asked) return;
    const understood = $("[data-understood]", run);
    $("span", understood).textContent = told.question;
    understood.hidden = false;
    announce(understood.textContent);
  });
  on("analysis", (told) => { announce(`Hop ${told.hop}: ${told.question}`); refresh(); });
  on("reading", (told) => { announce(`${told.facts.length} facts for: ${told.need.question}`); refresh(); });
  on("rephrasing", (told) => { announce(`The question is now: ${told.after}`); refresh(); });
  for (const name of ["final", "failed", "stopped"]) on(name, ended);
  source.onerror = () => { doing.textContent = "The connection was lost; trying again"; };
  source.onopen = () => { if (doing.textContent.startsWith("The connection")) doing.textContent = "Working"; refresh(); };

  $("[data-stop]", run).addEventListener("submit", (event) => {
    event.preventDefault();
    doing.textContent = "Stopping";
    fetch(`/api/runs/${run.dataset.run}/stop`, { method: "POST" });
  });
}

// --- the article beside the proof ----------------------------------------------------------------

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function showMark(pane) {
  const text = $("[data-article-text]", pane), mark = $("#quote", pane);
  if (!mark || !text) return;
  if (text.scrollHeight > text.clientHeight + 4 && getComputedStyle(text).overflowY === "auto") {
    const place = mark.getBoundingClientRect().top - text.getBoundingClientRect().top;
    text.scrollTop += place - text.clientHeight / 3;
  }
}

// What can be scrolled can be reached by keyboard, too.
function wideTables() {
  for (const table of $$(".article-text table")) if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
}

function markChosen(number) {
  for (const link of $$("[data-cite]")) {
    if (link.dataset.part || link.closest("[data-article]")) continue;
    if (link.dataset.cite === number) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  for (const node of $$(".proof-graph .node")) node.classList.toggle("chosen", node.dataset.node === `fact-${number}`);
}

async function showArticle(run, pane, number, options = {}) {
  const query = new URLSearchParams();
  if (options.part) query.set("part", options.part);
  pane.setAttribute("aria-busy", "true");
  const response = await fetch(`/runs/${run}/quotes/${number}?${query}`);
  pane.removeAttribute("aria-busy");
  if (!response.ok) { announce("The article cannot be shown."); return; }
  pane.innerHTML = await response.text();  // escaped and sanitised by the server
  pane.dataset.shown = number;
  markChosen(number);
  showMark(pane);
  wideTables();
  const mark = $("#quote", pane);
  if (!options.quiet && pane.getBoundingClientRect().top > innerHeight * 0.75 && mark) {
    mark.scrollIntoView({ block: "center", behavior: calm() ? "auto" : "smooth" });
  }
  announce(`Quote ${number}, ${$("h2", pane)?.textContent ?? ""}: ${$$("mark", pane).map((one) => one.textContent).join("")}`);
}

function proof() {
  const root = $("[data-proof]");
  if (!root) return;
  const pane = $("[data-article]", root);
  const first = new URLSearchParams(location.search).get("cite") || $(".quotes a[aria-current]")?.dataset.cite;
  const options = (link) => ({ part: link.dataset.part });
  if (!pane) return;
  if (first) { pane.dataset.shown = first; markChosen(first); showMark(pane); }
  root.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const address = link.getAttribute("href") || "";
    const number = link.dataset.cite || /^\?cite=(\d+)#article$/.exec(address)?.[1];
    if (!number) return;
    event.preventDefault();
    history.pushState({ cite: number }, "", address);
    showArticle(root.dataset.proof, pane, number, options(link));
  });
  addEventListener("popstate", () => {
    const number = new URLSearchParams(location.search).get("cite") || first;
    if (number) showArticle(root.dataset.proof, pane, number, { quiet: true });
  });
  addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select") || event.metaKey || event.ctrlKey || event.altKey) return;
    const step = { j: 1, k: -1 }[event.key];
    const numbers = $$(".quotes a[data-cite]").map((link) => link.dataset.cite);
    if (!step || !numbers.length) return;
    const at = numbers.indexOf(pane.dataset.shown);
    const number = numbers[(at + step + numbers.length) % numbers.length];
    history.pushState({ cite: number }, "", `?cite=${number}#article`);
    showArticle(root.dataset.proof, pane, number);
  });
}

function copying() {
  for (const button of $$("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const response = await fetch(button.dataset.copy);
      await navigator.clipboard.writeText(await response.text());
      announce("Copied.");
      const label = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }
}

function narrowScreens() {
  // On a phone the chain is read as a list.
  const words = $(".in-words");
  if (words && matchMedia("(max-width: 40rem)").matches) words.open = true;
}

themeSwitch();
askForm();
liveRun();
proof();
copying();
narrowScreens();
wideTables();
