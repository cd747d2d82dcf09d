/** The actions on a line: edit and send again, answer again, fork, and step through its versions. */
import type { App } from "../app/app.ts"
import type { Line, Versions } from "../sessions/lines.ts"
import { button } from "./buttons.ts"
import { h } from "./dom.ts"
import { editor } from "./editor.ts"

/** A line with the entry that ends its question or answer. */
type ForkableLine = Line & { readonly forkAt: string }

/** @param body replaced by the editor. Buttons that write have the class `writes`, so that they can be disabled during a turn. */
export function lineActions(line: ForkableLine, app: App, body: HTMLElement): HTMLElement {
  const tools: HTMLElement[] = []
  if (line.kind === "user") {
    const o = { class: "quiet small writes", label: "Edit and send again, as a branch", name: "edit" }
    tools.push(button("edit", "Edit", () => edit(line, app, body), o))
  }
  if (line.kind === "assistant") {
    const o = { class: "quiet small writes", label: "Answer again, as a branch", name: "again" }
    tools.push(button("again", "Again", () => void app.continueTurn(line.parentId), o))
  }
  const o = { class: "quiet small", label: "Fork: a new session up to here", name: "fork" }
  tools.push(button("fork", "Fork", () => void fork(line, app), o))
  return h("div", { class: "line-tools" }, ...tools)
}

export function versionsElement({ index, count, before, after }: Versions, app: App): HTMLElement {
  const go = (leaf: string | undefined) => (): void => void (leaf !== undefined && app.view(leaf))
  return h(
    "div",
    { class: "versions", role: "group", "aria-label": "Versions" },
    button("previous", "", go(before), { label: "Previous version", disabled: before === undefined, name: "before" }),
    h("span", {}, `${index + 1} of ${count}`),
    button("next", "", go(after), { label: "Next version", disabled: after === undefined, name: "after" }),
  )
}

function edit(line: Line, app: App, body: HTMLElement): void {
  const element = body.parentElement
  const end = (): void => {
    element?.removeAttribute("data-editing")
    form.replaceWith(body)
    element?.querySelector<HTMLElement>("[data-name=edit]")?.focus()
  }
  const save = async (text: string): Promise<void> => {
    // If the text could not be stored, it stays in the field.
    if (!(await app.send(text.trim(), line.parentId))) return
    end()
    document.querySelector<HTMLElement>(".composer textarea")?.focus()
  }
  const form = editor(line.text, { cancel: end, save: (text) => void save(text) })
  element?.setAttribute("data-editing", "")
  body.replaceWith(form)
  form.querySelector("textarea")?.focus()
}

async function fork({ forkAt }: ForkableLine, app: App): Promise<void> {
  const { openId } = app.store.get()
  const made = openId === undefined ? undefined : await app.fork(openId, forkAt)
  if (made !== undefined) await app.show(made)
}
