import type { App } from "../app/app.ts"
import { button } from "./buttons.ts"
import { h } from "./dom.ts"
import { isSendKey } from "./editor.ts"
import type { View } from "./view.ts"

export interface Composer extends View {
  send(text: string): Promise<void>
  focus(): void
}

/** The unsent text is stored for this tab under this key. */
const DRAFT = "draft"

/** The field for the next message. Enter sends, Shift+Enter begins a line, Escape stops the agent. */
export function createComposer(app: App): Composer {
  const field = h("textarea", {
    rows: 1,
    placeholder: "Ask something",
    "aria-label": "Message",
    "aria-describedby": "composer-hint",
  })
  field.value = stored()
  const sendButton = button("send", "Send", () => void send(field.value), { class: "strong" })
  const stopButton = button("stop", "Stop", () => app.stop(), { class: "strong" })
  const hint = h(
    "p",
    { class: "hint", id: "composer-hint" },
    "Enter sends, Shift+Enter begins a line, Escape stops the agent.",
  )
  let blocked = false

  async function send(text: string): Promise<void> {
    const { openId, turns } = app.store.get()
    if (text.trim() === "" || blocked || turns.has(openId ?? "")) return
    // The text stays a draft until it is stored, so that a reload does not lose it. If it cannot be stored, it returns to the field.
    field.value = ""
    keep(text)
    const stored = await app.send(text.trim())
    if (!stored && field.value === "") field.value = text
    keep(field.value)
  }

  field.addEventListener("input", () => keep(field.value))
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") app.stop()
    if (!isSendKey(event)) return
    event.preventDefault()
    void send(field.value)
  })

  return {
    element: h("div", { class: "composer" }, h("div", { class: "box" }, field, sendButton, stopButton), hint),
    send,
    focus: () => field.focus(),
    update({ openId, turns, conversation, compacting }) {
      const running = turns.has(openId ?? "")
      blocked =
        conversation?.readOnly !== undefined || compacting || (openId !== undefined && conversation === undefined)
      sendButton.hidden = running
      sendButton.disabled = blocked
      stopButton.hidden = !running
      field.disabled = conversation?.readOnly !== undefined
    },
  }
}

function stored(): string {
  try {
    return sessionStorage.getItem(DRAFT) ?? ""
  } catch {
    return ""
  }
}

function keep(text: string): void {
  try {
    sessionStorage.setItem(DRAFT, text)
  } catch {
    // The browser stores nothing, so the text is only in the field.
  }
}
