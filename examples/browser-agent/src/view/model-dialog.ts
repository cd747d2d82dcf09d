import type { App } from "../app/app.ts"
import { button } from "./buttons.ts"
import { h } from "./dom.ts"

/** Selects the model: the stand-in, or a server. */
export function openModelDialog(app: App): void {
  const { endpoint } = app.store.get()
  const url = h("input", {
    type: "url",
    name: "url",
    placeholder: "http://localhost:11434/v1/chat/completions",
    autocomplete: "off",
  })
  const model = h("input", { name: "model", placeholder: "The model's name", autocomplete: "off", spellcheck: "false" })
  const key = h("input", { type: "password", name: "key", placeholder: "If the server needs one", autocomplete: "off" })
  const window = h("input", { type: "number", name: "window", min: 1000, step: 1, required: true })
  url.value = endpoint?.url ?? ""
  model.value = endpoint?.model ?? ""
  key.value = endpoint?.key ?? ""
  window.value = String(endpoint?.window ?? 128_000)
  // A server needs the name of a model; without an address the stand-in answers.
  const require = (): void => void (model.required = url.value !== "")
  url.addEventListener("input", require)
  require()
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "model-title" }, "Model"),
    h(
      "p",
      {},
      "Without an address a stand-in answers, in this page. Any server that speaks chat completions can take its place.",
    ),
    h("label", {}, "Address", url),
    h("label", {}, "Model", model),
    h("label", {}, "Key", key),
    h("label", {}, "Context window, in tokens", window),
    h(
      "p",
      { class: "hint" },
      "The address and the key stay in this tab and end with it. The key is sent to that address only, and only when you send a message or compact.",
    ),
    h(
      "div",
      { class: "row end" },
      button(undefined, "Cancel", () => dialog.close(), { class: "plain" }),
      h("button", { type: "submit", class: "strong" }, "Use it"),
    ),
  )
  const dialog = h("dialog", { "aria-labelledby": "model-title" }, form)
  form.addEventListener("submit", () => {
    const given = { url: url.value, model: model.value.trim(), key: key.value, window: Number(window.value) }
    void app.useEndpoint(given.url === "" ? undefined : given)
  })
  dialog.addEventListener("close", () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
