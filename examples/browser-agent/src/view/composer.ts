import type { StoredPrompt } from "@sessions/history"
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

/**
 * The field for the next message. Enter sends, Shift+Enter begins a line, Escape stops the agent. In an empty field arrow-up brings back
 * what was typed before, in any session; arrow-down returns.
 */
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
    "Enter sends, Shift+Enter begins a line, arrow up brings back earlier messages, Escape stops the agent.",
  )
  let blocked = false
  /** The prompts that arrow-up has passed, newest first; the last one is in the field, where it has the text `shown`. */
  let passed: StoredPrompt[] = []
  let shown = ""

  async function send(text: string): Promise<void> {
    const { openId, turns } = app.store.get()
    if (text.trim() === "" || blocked || turns.has(openId ?? "")) return
    // The text stays a draft until it is stored, so that a reload does not lose it. If it cannot be stored, it returns to the field.
    field.value = ""
    passed = []
    keep(text)
    const stored = await app.send(text.trim())
    if (!stored && field.value === "") field.value = text
    keep(field.value)
  }

  function fill(text: string): void {
    field.value = text
    shown = field.value
    keep(shown)
  }

  /** Whether arrow keys are for the earlier messages: not in a text of the user's, nor inside a text of several lines. */
  function passes({ key, isComposing, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
    if (isComposing || altKey || ctrlKey || metaKey || shiftKey) return false
    if (field.value !== (passed.length === 0 ? "" : shown)) return false
    if (key === "ArrowUp") return !field.value.slice(0, field.selectionStart).includes("\n")
    return key === "ArrowDown" && passed.length > 0 && !field.value.slice(field.selectionEnd).includes("\n")
  }

  async function older(): Promise<void> {
    const before = field.value
    const prompt = await app.olderPrompt(passed.at(-1)?.id)
    // A text that was typed meanwhile stays.
    if (prompt === undefined || field.value !== before) return
    passed.push(prompt)
    fill(prompt.prompt)
  }

  function newer(): void {
    passed.pop()
    fill(passed.at(-1)?.prompt ?? "")
  }

  field.addEventListener("input", () => {
    passed = []
    keep(field.value)
  })
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") app.stop()
    if (passes(event)) {
      event.preventDefault()
      if (event.key === "ArrowDown") newer()
      else void older()
    }
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
