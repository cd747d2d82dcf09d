import type { App } from "../app/app.ts"
import type { SyncState } from "../app/state.ts"
import { button } from "./buttons.ts"
import { h, setText } from "./dom.ts"
import { ago } from "./format.ts"
import { openSyncDialog } from "./sync-dialog.ts"
import type { View } from "./view.ts"

/** Whether the sessions are on the server too. */
export function createSyncView(app: App): View {
  const status = h("p", { class: "sync-status", role: "status" })
  const settings = button("sync", "Sync", () => openSyncDialog(app), { class: "quiet", label: "Sync with a server" })
  const now = button(undefined, "Sync now", () => void app.sync(), { class: "plain small" })
  const element = h(
    "section",
    { class: "sync", "aria-label": "Sync" },
    h("div", { class: "row" }, settings, now),
    status,
  )
  return {
    element,
    update({ sync }) {
      element.setAttribute("aria-busy", String(sync.kind === "running"))
      now.hidden = sync.kind === "off"
      now.disabled = sync.kind === "running"
      // A screen reader would read out each of the regular runs.
      if (sync.kind !== "running") setText(status, textOf(sync))
      status.classList.toggle("failed", sync.kind === "failed")
    },
  }
}

function textOf(sync: Exclude<SyncState, { kind: "running" }>): string {
  switch (sync.kind) {
    case "off":
      return "The sessions are in this browser only."
    case "offline":
      return "The server is not reached. All is saved here, and goes there later."
    case "done":
      return `In step with the server (${ago(sync.at)}).`
    case "failed":
      return sync.text
  }
}
