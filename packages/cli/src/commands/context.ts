import type { RepairMode, SessionContext } from "@sessions/core"
import { PRESETS } from "@sessions/core/compaction"
import { choiceOption, integerOption } from "../option-values.ts"
import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { UsageError } from "../errors.ts"
import { fillLines } from "../output/window-bar.ts"
import { fillOf } from "../output/window-usage.ts"
import { fit, formatCount, formatNumber } from "../output/format.ts"
import { body, messageText, preview, roleSpan } from "../output/messages.ts"
import type { Line, View } from "../output/lines.ts"
import { styled } from "../output/lines.ts"

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
    window: { type: "string", value: "N", help: "show how full a window of N tokens is, and what could be cut" },
    prune: { type: "boolean", help: "with old tool results made shorter, as far as the window asks for it" },
    "reserve-tokens": { type: "string", value: "N", help: "kept free for the answer (default 16384)" },
    "keep-recent-tokens": { type: "string", value: "N", help: "newest tokens that compaction keeps (default 20000)" },
    full: { type: "boolean", help: "messages whole, not their first line" },
  },
  examples: [
    "context @last",
    "context 01JGN3 --window 200000",
    "context @last --window 32000 --prune",
    "context @last --json --repair none",
  ],
  async run({ sessions, session: resolve, args: [ref = ""], values, call }) {
    const repair = choiceOption("repair", values.repair, REPAIRS, "synthesize")
    const window = integerOption("window", values.window, 1)
    const isPruned = values.prune === true
    const reserveTokens = integerOption("reserve-tokens", values["reserve-tokens"], 0) ?? DEFAULTS.reserveTokens
    const keepRecentTokens =
      integerOption("keep-recent-tokens", values["keep-recent-tokens"], 0) ?? DEFAULTS.keepRecentTokens
    if (window === undefined)
      for (const name of ["prune", "reserve-tokens", "keep-recent-tokens"] as const)
        if (values[name] !== undefined) throw new UsageError(`--${name} goes with --window N, the tokens of the model.`)
    const id = await resolve(ref)
    const session = await sessions.open(id, call)
    try {
      const sized = { ...call, repair, ...(window === undefined ? {} : { window }) }
      const whole = await session.context({ ...sized, prune: false })
      const pruned = window === undefined ? undefined : await session.context({ ...sized, prune: true })
      const found = isPruned && pruned !== undefined ? pruned : whole
      const fill =
        window === undefined || pruned === undefined
          ? undefined
          : fillOf({ shown: found, whole, pruned }, { window, reserveTokens, keepRecentTokens })
      const { leafId } = session
      return {
        json: { id, leafId, ...found, ...(fill === undefined ? {} : { fill }) },
        text: (view) => [
          ...about(found, window),
          ...(fill === undefined ? [] : fillLines(fill, view, isPruned)),
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
const DEFAULTS = { reserveTokens: 0, keepRecentTokens: 0, ...PRESETS.reserve }

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
