import type { App } from "../app/app.ts"
import type { State } from "../app/state.ts"
import type { Conversation } from "../sessions/conversation.ts"
import { button } from "./buttons.ts"
import { h, reconcile, setText } from "./dom.ts"
import { lineElement, type LineItem } from "./line.ts"
import { prose } from "./prose.ts"
import type { View } from "./view.ts"
import { createWelcome } from "./welcome.ts"

/** The conversation on the branch that is looked at, and what the agent is doing now. */
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
    const doing = state.openId === undefined ? undefined : state.turns.get(state.openId)
    live.hidden = doing === undefined || doing.kind === "calling"
    if (doing?.kind === "answering") live.replaceChildren(h("div", { class: "body" }, prose(doing.text)))
    else live.replaceChildren(h("div", { class: "body thinking" }, "Thinking …"))
    setText(status, statusOf(state))
  }

  let last: State | undefined
  /** Who reads at the end stays there; who has scrolled back is left alone. */
  let stuck = true
  const stick = (): void => {
    if (stuck) element.scrollTop = element.scrollHeight
  }
  element.addEventListener("scroll", () => {
    stuck = element.scrollHeight - element.scrollTop - element.clientHeight < 40
  })
  new ResizeObserver(stick).observe(element)

  return {
    element,
    update(state) {
      const { conversation, openId, turns } = state
      welcome.hidden = openId !== undefined && (conversation === undefined || conversation.lines.length > 0)
      const calling = callingOf(state)
      // While an answer comes word by word, nothing else changes.
      if (conversation !== last?.conversation || calling !== (last && callingOf(last))) {
        reconcile(lines, itemsOf(conversation, calling), {
          keyOf: ({ id }) => id,
          make: (line) => lineElement(line, app),
        })
      }
      // Whoever says something wants to see what comes of it.
      stuck ||= turns.has(openId ?? "") && last?.turns.has(openId ?? "") !== true
      last = state
      const locked =
        turns.has(openId ?? "") || state.compacting || state.elsewhere || conversation?.readOnly !== undefined
      for (const button of lines.querySelectorAll<HTMLButtonElement>("button.writes")) button.disabled = locked
      drawLive(state)
      const asides = asidesOf(state)
      const key = JSON.stringify(asides.map(({ text, act }) => [text, act?.name]))
      if (key !== drawn) after.replaceChildren(...asides.map((aside) => asideElement(aside, app)))
      drawn = key
      const other = conversation?.id !== shown
      shown = conversation?.id
      stuck ||= other
      stick()
    },
  }
}

function callingOf({ conversation, turns }: State): string | undefined {
  const doing = turns.get(conversation?.id ?? "")
  return doing?.kind === "calling" ? doing.call : undefined
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
      // With the results of its last calls, where those are the end.
      forkAt: end === lines.length - 1 && leaf !== null ? leaf : (lines[end]?.id ?? line.id),
      calling: line.calls.some(({ call }) => call.id === calling) ? calling : undefined,
    }
  })
}

interface Aside {
  readonly text: string
  readonly act?: { readonly name: string; readonly run: (app: App) => Promise<void> }
}

/** What is to be known of the end of the conversation. */
function asidesOf({ conversation, turns, elsewhere, compacting }: State): readonly Aside[] {
  if (conversation === undefined || turns.has(conversation.id)) return []
  const { unfinished, otherLeaf, readOnly, notSummarized } = conversation
  const asides: Aside[] = []
  if (readOnly !== undefined) asides.push({ text: `${readOnly} It can be read and exported here, but not continued.` })
  if (elsewhere) asides.push({ text: "Another tab has the agent at work on this session. What it says appears here." })
  else if (unfinished !== undefined && readOnly === undefined && !compacting) {
    const { why, from } = unfinished
    asides.push({ text: `${why} Everything above is saved.`, act: { name: "Continue", run: (app) => app.goOn(from) } })
  }
  if (notSummarized !== undefined) asides.push({ text: `The session could not be summarized. ${notSummarized}` })
  if (otherLeaf !== undefined) {
    const text = "Another tab went on from here at the same moment. Both branches are kept."
    asides.push({ text, act: { name: "Look at the other", run: (app) => app.view(otherLeaf) } })
  }
  return asides
}

function asideElement({ text, act }: Aside, app: App): HTMLElement {
  const run = act && button(undefined, act.name, () => void act.run(app), { class: "plain small" })
  return h("div", { class: "aside", role: "note" }, h("span", {}, text), run)
}

function statusOf({ openId, turns, compacting }: State): string {
  const doing = openId === undefined ? undefined : turns.get(openId)
  if (compacting) return "Summarizing."
  if (doing === undefined) return openId === undefined ? "" : "The agent is ready."
  return {
    thinking: "The agent is thinking.",
    answering: "The agent is answering.",
    calling: "The agent is using a tool.",
  }[doing.kind]
}
