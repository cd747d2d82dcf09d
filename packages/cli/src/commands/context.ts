import type { RepairMode, SessionContext } from "@sessions/core"
import { choiceOption, integerOption } from "../args.ts"
import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { diagnosticLines } from "../diagnostics.ts"
import { fit, formatCount, formatNumber } from "../format.ts"
import { body, messageText, preview, roleSpan } from "../messages.ts"
import type { Line, View } from "../output.ts"
import { styled } from "../output.ts"

const REPAIRS: readonly RepairMode[] = ["synthesize", "drop", "none"]

export const context: Command = defineCommand({
  name: "context",
  summary: "what a model gets when the session goes on",
  args: ["ID"],
  options: {
    repair: {
      type: "string",
      value: "MODE",
      help: `tool calls without a result: ${REPAIRS.join(", ")} (default synthesize)`,
    },
    window: { type: "string", value: "N", help: "say whether it fits into N tokens" },
    full: { type: "boolean", help: "messages whole, not their first line" },
  },
  examples: ["context @last", "context 01JGN3 --window 200000", "context @last --json --repair none"],
  async run({ sessions, session: resolve, args: [ref = ""], values, call }) {
    const repair = choiceOption("repair", values.repair, REPAIRS, "synthesize")
    const window = integerOption("window", values.window, 1)
    const id = await resolve(ref)
    const session = await sessions.open(id, call)
    try {
      const found = await session.context({ ...call, repair, ...(window === undefined ? {} : { window }) })
      const { leafId } = session
      return {
        json: { id, leafId, ...found },
        text: (view) => [
          ...about(found, window),
          ...diagnosticLines(found.diagnostics, SHOWN_DIAGNOSTICS),
          ...found.messages.flatMap((item, index) => messageLines(item, index, values.full === true, view)),
        ],
      }
    } finally {
      await session.close()
    }
  },
})

const SHOWN_DIAGNOSTICS = 10

function about(
  { messages, tokens, fits, model, thinkingLevel, mode, compaction }: SessionContext,
  window: number | undefined,
): Line[] {
  const facts = [
    formatCount(messages.length, "message"),
    `about ${formatNumber(tokens)} tokens`,
    ...(window === undefined ? [] : [`${fits === true ? "fits" : "does not fit"} into ${formatNumber(window)}`]),
    ...(model === undefined ? [] : [`${model.provider}/${model.model}`]),
    ...(thinkingLevel === "off" ? [] : [`thinking ${thinkingLevel}`]),
    ...(mode === "none" ? [] : [`mode ${mode}`]),
  ]
  const begins = compaction === undefined ? [] : [styled("dim", `begins with the compaction ${compaction.entryId}`)]
  return [styled("bold", facts.join(" · ")), ...begins]
}

function messageLines(item: SessionContext["messages"][number], index: number, full: boolean, view: View): Line[] {
  const { message, kind, entryId } = item
  const number = styled("dim", `${String(index + 1).padStart(4)}  `)
  const note = kind === "message" ? "" : ` (${kind})`
  if (!full)
    return [
      fit([number, roleSpan(message.role), `${note}  `, preview(messageText(message), PREVIEW_UNITS)], view.columns),
    ]
  return [
    "",
    [number, roleSpan(message.role), `${note}  `, styled("dim", entryId)],
    ...body(message, Number.POSITIVE_INFINITY),
  ]
}

const PREVIEW_UNITS = 160
