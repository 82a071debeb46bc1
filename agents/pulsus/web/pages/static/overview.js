"use strict";
// The overview is loaded again when a card or a run changes, and once a minute.

// Links of earlier notices lead to a card on this page.
if (location.hash.startsWith("#apr-")) location.replace(`/approvals${location.hash}`);

let refreshing = 0;
let greeted = false;

function tick() {
  for (const place of document.querySelectorAll("time.rest")) {
    const seconds = Math.max(0, Math.round((Date.parse(place.dateTime) - Date.now()) / 1000));
    const text = seconds ? `expires in ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "expired";
    if (place.textContent !== text) place.textContent = text;
    place.classList.toggle("wrong", seconds < 60);
  }
}

async function refresh() {
  let answer;
  try {
    answer = await fetch("/", { headers: { Accept: "text/html" } });
  } catch {
    return; // the server is away: the stream says so, and comes back
  }
  if (answer.redirected) { goToSignIn(); return; }
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = Array.from(page.querySelectorAll("#live > section"));
  for (const [n, section] of Array.from(document.querySelectorAll("#live > section")).entries()) {
    // A section that did not change stays, and keeps the focus.
    if (fresh[n] && section.dataset.shown !== fresh[n].innerHTML) {
      const html = fresh[n].innerHTML;
      const focused = document.activeElement?.getAttribute("href");
      const had = section.contains(document.activeElement);
      section.replaceChildren(...fresh[n].childNodes);
      section.dataset.shown = html;
      if (had) Array.from(section.querySelectorAll("a")).find((a) => a.getAttribute("href") === focused)?.focus();
    }
  }
  tick();
}

function refreshSoon(name) {
  if (name === "hello" && !greeted) { greeted = true; return; }
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, 250);
}

followEvents(
  "/api/v1/events",
  [...["requested", "approved", "denied", "expired"].map((name) => `approval_${name}`), "execution_done",
    "agent_start", "approval_needed", "agent_suspended", "agent_final", "agent_error", "agent_max_turns",
    "reload", "hello"],
  refreshSoon,
  showConnection,
);
setInterval(tick, 1000);
setInterval(() => { if (!document.hidden) refresh(); }, 60000);
tick();
