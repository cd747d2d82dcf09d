/** One line of a conversation: its text, its tool calls and its actions. */
import type { App } from "../app/app.ts"
import type { CallLine, Line } from "../sessions/lines.ts"
import { h } from "./dom.ts"
import { lineActions, versionsElement } from "./line-actions.ts"
import { prose } from "./prose.ts"
import { clock, exactly } from "./format.ts"

export interface LineItem extends Line {
  /** Whether the line before belongs to the same answer and shows the name and the actions. */
  readonly continued: boolean
  /** The last entry of the question or answer. */
  readonly forkAt: string
  /** The id of the running call. */
  readonly calling: string | undefined
}

export function lineElement(line: LineItem, app: App): HTMLElement {
  if (line.kind === "summary") return summaryElement(line)
  const body = h("div", { class: "body" }, prose(line.text))
  body.append(...line.calls.map((call) => callElement(call, call.call.id === line.calling)))
  if (line.cutOff) body.append(h("p", { class: "cut" }, "Cut off here."))
  const versions = line.versions.count > 1 && versionsElement(line.versions, app)
  const name = h("span", { class: "name" }, whoOf(line))
  const time = h("time", { datetime: line.timestamp, title: exactly(line.timestamp) }, clock(line.timestamp))
  const head = line.continued ? [versions] : [name, time, versions, lineActions(line, app, body)]
  return h(
    "li",
    {
      class: `line ${line.kind}${line.summarized ? " summarized" : ""}${line.continued ? " continued" : ""}`,
      id: `line-${line.id}`,
      tabindex: -1,
    },
    h("div", { class: "who" }, ...head),
    body,
  )
}

function whoOf({ kind, by }: Line): string {
  if (kind === "user") return "You"
  return kind === "assistant" ? (by ?? "Agent") : "Note"
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
    h("pre", { tabindex: 0 }, result?.text ?? "The log contains no result of this call."),
  )
}

function summaryElement(line: Line): HTMLElement {
  return h(
    "li",
    { class: `line summary${line.summarized ? " summarized" : ""}`, id: `line-${line.id}`, tabindex: -1 },
    h(
      "details",
      {},
      h("summary", {}, "Summarized: the model gets this instead of the lines above"),
      h("div", { class: "body" }, prose(line.text)),
    ),
  )
}
