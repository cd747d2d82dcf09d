import type { App } from "../app/app.ts"
import { loadServer } from "../app/settings.ts"
import { button } from "./buttons.ts"
import { h } from "./dom.ts"

/** Selects the server that the sessions are kept in step with, or none. */
export function openSyncDialog(app: App): void {
  const server = loadServer()
  const url = h("input", { type: "url", name: "url", autocomplete: "off", required: true })
  const token = h("input", { type: "password", name: "token", autocomplete: "off", required: true })
  url.value = server?.url ?? new URL("storage", location.href.replace(/[#?].*$/s, "")).href
  token.value = server?.token ?? ""
  const off = button(
    undefined,
    "Switch off",
    () => {
      void app.useServer(undefined)
      dialog.close()
    },
    { class: "plain" },
  )
  off.hidden = server === undefined
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "sync-title" }, "Sync with a server"),
    h(
      "p",
      {},
      "All sessions are kept on the server too, and on every device with the same token. Everything works without a network; what you write meanwhile is merged later.",
    ),
    h("label", {}, "Server", url),
    h("label", {}, "Token", token),
    h(
      "p",
      { class: "hint" },
      "Both stay in this browser until you switch it off. The token opens all your sessions, so use it on your own devices only.",
    ),
    h(
      "div",
      { class: "row end" },
      off,
      button(undefined, "Cancel", () => dialog.close(), { class: "plain" }),
      h("button", { type: "submit", class: "strong" }, "Sync"),
    ),
  )
  const dialog = h("dialog", { "aria-labelledby": "sync-title" }, form)
  form.addEventListener("submit", () => void app.useServer({ url: url.value, token: token.value.trim() }))
  dialog.addEventListener("close", () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
