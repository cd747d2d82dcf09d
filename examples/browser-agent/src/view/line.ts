/** One line of a conversation: what was said, the calls that were made, and what can be done with it. */
import type { App } from "../app/app.ts"
import type { CallLine, Line, Versions } from "../sessions/lines.ts"
import { button } from "./buttons.ts"
import { h } from "./dom.ts"
import { editor } from "./editor.ts"
import { prose } from "./prose.ts"
import { clock, exactly } from "./said.ts"

export interface LineItem extends Line {
  /** The line before is the same side's: it needs no name again. */
  readonly continued: boolean
  /** More of the same answer follows: what can be done stands below its end. */
  readonly goesOn: boolean
  /** The id of the call that is being made. */
  readonly calling: string | undefined
  /** Nothing can be said now. */
  readonly locked: boolean
}

export function lineElement(line: LineItem, app: App): HTMLElement {
  if (line.kind === "summary") return summaryElement(line)
  const body = h("div", { class: "body" })
  if (line.kind === "user") body.append(h("p", {}, line.text))
  else body.append(prose(line.text))
  body.append(...line.calls.map((call) => callElement(call, call.call.id === line.calling)))
  if (line.cutOff) body.append(h("p", { class: "cut" }, "Cut off here."))
  const element = h(
    "li",
    {
      class: `line ${line.kind}${line.summarized ? " summarized" : ""}${line.continued ? " continued" : ""}`,
      id: `line-${line.id}`,
      tabindex: -1,
    },
    h(
      "span",
      { class: "who" },
      whoOf(line),
      h("time", { datetime: line.timestamp, title: exactly(line.timestamp) }, clock(line.timestamp)),
    ),
    body,
  )
  if (!line.goesOn || line.versions.count > 1) element.append(actions(line, app, element, body))
  return element
}

function whoOf({ kind, by }: Line): string {
  if (kind === "user") return "You"
  return kind === "assistant" ? (by ?? "Agent") : "Note"
}

function actions(line: LineItem, app: App, element: HTMLElement, body: HTMLElement): HTMLElement {
  const { versions, locked } = line
  const tools: HTMLElement[] = []
  const o = { class: "quiet small", disabled: locked }
  if (line.kind === "user") {
    const edit = (): void => {
      element.setAttribute("data-editing", "")
      const end = (): void => {
        element.removeAttribute("data-editing")
        form.replaceWith(body)
        element.querySelector<HTMLElement>("[data-name=edit]")?.focus()
      }
      const form = editor(line.text, {
        cancel: end,
        save: async (text) => (await app.send(text, line.parentId)) && end(),
      })
      body.replaceWith(form)
      form.querySelector("textarea")?.focus()
    }
    tools.push(button("edit", "Edit", edit, { ...o, label: "Edit and send again, as a branch", name: "edit" }))
  }
  if (line.kind === "assistant") {
    const again = (): void => void app.goOn(line.parentId)
    tools.push(button("again", "Again", again, { ...o, label: "Answer again, as a branch", name: "again" }))
  }
  const fork = async (): Promise<void> => {
    const id = app.store.get().openId
    const made = id === undefined ? undefined : await app.fork(id, line.id)
    if (made !== undefined) await app.show(made)
  }
  tools.push(
    button("fork", "Fork", () => void fork(), {
      class: "quiet small",
      label: "Fork: a new session up to here",
      name: "fork",
    }),
  )
  return h(
    "div",
    { class: "actions" },
    versions.count > 1 && versionsElement(versions, app),
    h("div", { class: "tools" }, ...tools),
  )
}

function versionsElement({ place, count, before, after }: Versions, app: App): HTMLElement {
  const go = (leaf: string | undefined) => (): void => void (leaf !== undefined && app.view(leaf))
  return h(
    "div",
    { class: "versions", role: "group", "aria-label": "Versions" },
    button("previous", "", go(before), { label: "Previous version", disabled: before === undefined, name: "before" }),
    h("span", {}, `${place + 1} of ${count}`),
    button("next", "", go(after), { label: "Next version", disabled: after === undefined, name: "after" }),
  )
}

function callElement({ call, result }: CallLine, running: boolean): HTMLElement {
  const args = Object.values(call.arguments).map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
  const state = result === undefined ? (running ? "running" : "no result") : result.isError ? "failed" : ""
  const summary = h(
    "summary",
    {},
    h("code", {}, call.name),
    h("span", { class: "args" }, args.join(", ")),
    state !== "" && h("span", { class: `state ${state.replace(" ", "-")}` }, state),
  )
  return h(
    "details",
    { class: "call" },
    summary,
    h("pre", { tabindex: 0 }, result?.text ?? "There is no result of this call in the log."),
  )
}

function summaryElement(line: Line): HTMLElement {
  return h(
    "li",
    { class: `line summary${line.summarized ? " summarized" : ""}`, id: `line-${line.id}`, tabindex: -1 },
    h(
      "details",
      {},
      h("summary", {}, "Summarized: the model gets this instead of what stands above"),
      h("div", { class: "body" }, prose(line.text)),
    ),
  )
}
