import type { App } from "../app/app.ts"
import type { State } from "../app/state.ts"
import type { Conversation } from "../sessions/conversation.ts"
import { button } from "./buttons.ts"
import { h, reconcile, setText } from "./dom.ts"
import { count } from "./format.ts"
import { lineElement, type LineItem } from "./line.ts"
import { prose } from "./prose.ts"
import type { View } from "./view.ts"
import { createWelcome } from "./welcome.ts"

/** The conversation on the shown branch, and the current activity of the agent. */
export function createChat(app: App, suggest: (text: string) => void): View {
  const lines = h("ol", { class: "lines", "aria-label": "Conversation" })
  const live = h("div", { class: "line assistant live", "aria-hidden": "true" })
  const status = h("p", { class: "spoken", role: "status" })
  const after = h("div", { class: "after" })
  const welcome = createWelcome(suggest)
  const element = h("div", { class: "chat scroll", tabindex: -1 }, welcome, lines, live, after, status)
  let shown: string | undefined
  let drawn = ""

  function drawLive(state: State): void {
    const activity = state.openId === undefined ? undefined : state.turns.get(state.openId)
    live.hidden = activity === undefined || activity.kind === "calling"
    if (activity?.kind === "answering") live.replaceChildren(h("div", { class: "body" }, prose(activity.text)))
    else live.replaceChildren(h("div", { class: "body thinking" }, "Thinking …"))
    setText(status, statusOf(state))
  }

  let last: State | undefined
  /** Whether the view is at the end and follows it; false after scrolling back. */
  let followsEnd = true
  const scrollToEnd = (): void => {
    if (followsEnd) element.scrollTop = element.scrollHeight
  }
  element.addEventListener("scroll", () => {
    followsEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40
  })
  new ResizeObserver(scrollToEnd).observe(element)

  return {
    element,
    update(state) {
      const { conversation, openId, turns } = state
      welcome.hidden = openId !== undefined && (conversation === undefined || conversation.lines.length > 0)
      const calling = callingOf(state)
      // Skipped while an answer is streamed, because the lines do not change then.
      if (conversation !== last?.conversation || calling !== (last && callingOf(last))) {
        reconcile(lines, itemsOf(conversation, calling), {
          keyOf: ({ id }) => id,
          make: (line) => lineElement(line, app),
        })
      }
      // A new turn scrolls to the end, to show its answer.
      followsEnd ||= turns.has(openId ?? "") && last?.turns.has(openId ?? "") !== true
      last = state
      const locked =
        turns.has(openId ?? "") || state.compacting || state.runsElsewhere || conversation?.readOnly !== undefined
      for (const button of lines.querySelectorAll<HTMLButtonElement>("button.writes")) button.disabled = locked
      drawLive(state)
      const notes = notesOf(state)
      const key = JSON.stringify(notes)
      if (key !== drawn) after.replaceChildren(...notes.map((note) => noteElement(note, app)))
      drawn = key
      const other = conversation?.id !== shown
      shown = conversation?.id
      followsEnd ||= other
      scrollToEnd()
    },
  }
}

function callingOf({ conversation, turns }: State): string | undefined {
  const activity = turns.get(conversation?.id ?? "")
  return activity?.kind === "calling" ? activity.call : undefined
}

function itemsOf(conversation: Conversation | undefined, calling: string | undefined): readonly LineItem[] {
  if (conversation === undefined) return []
  const { lines, leaf } = conversation
  return lines.map((line, index) => {
    const rest = line.kind === "assistant" ? lines.slice(index + 1).findIndex(({ kind }) => kind !== "assistant") : 0
    const end = rest < 0 ? lines.length - 1 : index + rest
    return {
      ...line,
      continued: line.kind === "assistant" && lines[index - 1]?.kind === "assistant",
      // Includes the results of the last calls if they are at the end.
      forkAt: end === lines.length - 1 && leaf !== null ? leaf : (lines[end]?.id ?? line.id),
      calling: line.calls.some(({ call }) => call.id === calling) ? calling : undefined,
    }
  })
}

interface StatusNote {
  readonly text: string
  readonly acts?: readonly { readonly name: string; readonly run: (app: App) => Promise<void> }[]
}

/** Notes about the state of the conversation, shown at its end. */
function notesOf({ conversation, turns, runsElsewhere, compacting }: State): readonly StatusNote[] {
  if (conversation === undefined || turns.has(conversation.id)) return []
  const { unfinished, others, readOnly, notSummarized } = conversation
  const notes: StatusNote[] = []
  if (readOnly !== undefined) notes.push({ text: `${readOnly} It can be read and exported here, but not continued.` })
  if (runsElsewhere)
    notes.push({ text: "The agent is working on this session in another tab. Its answers appear here." })
  else if (unfinished !== undefined && readOnly === undefined && !compacting) {
    const { why, from } = unfinished
    notes.push({
      text: `${why} Everything above is saved.`,
      acts: [{ name: "Continue", run: (app) => app.continueTurn(from) }],
    })
  }
  if (notSummarized !== undefined) notes.push({ text: `The session could not be summarized. ${notSummarized}` })
  for (const { id, text, messages } of readOnly === undefined && !compacting ? others : []) {
    notes.push({
      text: `Another tab or device continued this session at the same time: “${text}” (${count(messages, "message")}). Both branches are kept.`,
      acts: [
        { name: "Go there", run: (app) => app.goTo(id) },
        { name: "Stay here", run: (app) => app.settle(id) },
      ],
    })
  }
  return notes
}

function noteElement({ text, acts = [] }: StatusNote, app: App): HTMLElement {
  const buttons = acts.map(({ name, run }) => button(undefined, name, () => void run(app), { class: "plain small" }))
  return h("div", { class: "status-note", role: "note" }, h("span", {}, text), ...buttons)
}

function statusOf({ openId, turns, compacting }: State): string {
  const activity = openId === undefined ? undefined : turns.get(openId)
  if (compacting) return "Summarizing."
  if (activity === undefined) return openId === undefined ? "" : "The agent is ready."
  return {
    thinking: "The agent is thinking.",
    answering: "The agent is answering.",
    calling: "The agent is using a tool.",
  }[activity.kind]
}
