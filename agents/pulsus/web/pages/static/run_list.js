"use strict";
// The list of runs is loaded again when a run starts, waits or ends.

let listTimer = 0;

function reloadList(name) {
  if (name === "hello") return;
  clearTimeout(listTimer);
  listTimer = setTimeout(async () => {
    const answer = await fetch("/runs", { headers: { Accept: "text/html" } });
    if (answer.redirected) { goToSignIn(); return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [fresh, shown] = [page.querySelector("main"), document.querySelector("main")];
    // The place of the connection stays: only what follows the head is new.
    while (shown.children.length > 1) shown.lastElementChild.remove();
    shown.append(...Array.from(fresh.children).slice(1));
  }, 250);
}

followEvents(
  "/api/v1/events",
  ["agent_start", "approval_needed", "agent_suspended", "agent_final", "agent_error", "agent_max_turns",
    "approval_approved", "approval_denied", "approval_expired", "reload", "hello"],
  reloadList,
  showConnection,
);
