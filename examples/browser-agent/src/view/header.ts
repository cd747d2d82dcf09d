import type { App } from "../app/app.ts"
import { titleOf } from "../app/files.ts"
import type { SessionInfo } from "@sessions/core"
import { button } from "./buttons.ts"
import { confirm } from "./confirm.ts"
import { h, setText } from "./dom.ts"
import { count } from "./format.ts"
import type { View } from "./view.ts"

/** The session's title, and the actions on the whole session. */
export function createHeader(
  app: App,
  openers: { readonly sessions: HTMLElement; readonly branches: HTMLElement },
  /** Called when the session was deleted, and with it the button that had the focus was disabled. */
  onDeleted: () => void,
): View {
  const title = h("h1", {})
  const rename = button("edit", "Rename", startRename, { name: "rename" })
  const actions = h(
    "div",
    { class: "session-actions", role: "group", "aria-label": "This session", id: "session-actions" },
    rename,
    button("fork", "Fork", () => void fork(), { label: "Fork: a new session with this branch" }),
    button("save", "Export", () => withInfo((info) => void app.exportFile(info)), { label: "Export as a .jsonl file" }),
    button("trash", "Delete", () => withInfo((info) => void remove(info)), { class: "quiet danger" }),
  )
  const more = button("more", "", () => toggle(more.getAttribute("aria-expanded") !== "true"), {
    class: "quiet narrow",
    label: "More actions",
  })
  more.setAttribute("aria-controls", "session-actions")
  const element = h("header", { class: "top" }, openers.sessions, title, more, actions, openers.branches)
  toggle(false)

  function toggle(expanded: boolean): void {
    more.setAttribute("aria-expanded", String(expanded))
    element.classList.toggle("expanded", expanded)
  }

  function info(): SessionInfo | undefined {
    const { sessions, openId } = app.store.get()
    return sessions?.find(({ id }) => id === openId)
  }

  function withInfo(act: (info: SessionInfo) => void): void {
    const found = info()
    if (found !== undefined) act(found)
  }

  function startRename(): void {
    withInfo((info) => {
      const field = h("input", { class: "rename", "aria-label": "Title", maxlength: 200 })
      // What is stored, with its Markdown.
      const before = info.title ?? titleOf(info)
      field.value = before
      let done = false
      const end = (save: boolean): void => {
        if (done) return
        done = true
        if (save && field.value !== before) void app.rename(info.id, field.value)
        field.replaceWith(title)
        rename.focus()
      }
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return
        // Otherwise the same key press would activate the button that gets the focus.
        event.preventDefault()
        end(event.key === "Enter")
      })
      field.addEventListener("blur", () => end(true))
      title.replaceWith(field)
      field.focus()
      field.select()
    })
  }

  async function fork(): Promise<void> {
    const { openId, conversation } = app.store.get()
    if (openId === undefined) return
    const made = await app.fork(openId, conversation?.leaf ?? null)
    if (made !== undefined) await app.show(made)
  }

  async function remove(info: SessionInfo): Promise<void> {
    const sure = await confirm({
      title: `Delete “${titleOf(info)}”?`,
      text: `${count(info.messageCount, "message")} on all branches, tool calls and results included. This cannot be undone; export the session first if you may want it back.`,
      yes: "Delete",
    })
    if (!sure) return
    app.stop()
    // What it said about the session.
    app.store.set({ notice: undefined })
    if (await app.remove(info.id)) onDeleted()
  }

  return {
    element,
    update({ openId }) {
      const found = info()
      setText(title, openId === undefined ? "New session" : found === undefined ? "…" : titleOf(found))
      document.title = openId === undefined ? "Browser agent" : `${title.textContent} – Browser agent`
      const none = found === undefined
      actions.hidden = none
      more.hidden = none
      for (const one of actions.querySelectorAll("button")) one.disabled = none
    },
  }
}
