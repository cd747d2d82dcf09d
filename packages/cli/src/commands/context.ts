import type { RepairMode, SessionContext } from "@sessions/core"
import { PRESETS, shorten } from "@sessions/core/compaction"
import { choiceOption, integerOption } from "../option-values.ts"
import { type Command, defineCommand } from "../command.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { UsageError } from "../errors.ts"
import { windowUsageLines } from "../output/window-bar.ts"
import { windowUsage } from "../output/window-usage.ts"
import { fit, formatCount, formatNumber } from "../output/format.ts"
import { body, messageText, preview, roleSpan } from "../output/messages.ts"
import { type Line, styled, type View } from "../output/lines.ts"

const REPAIR_MODES: readonly RepairMode[] = ["synthesize", "drop", "none"]

export const context: Command = defineCommand({
  name: "context",
  summary: "show the messages that a model receives when the session is resumed",
  args: ["ID"],
  options: {
    repair: {
      type: "string",
      value: "MODE",
      help: `repair of tool calls without a result: ${REPAIR_MODES.join(", ")} (default synthesize)`,
    },
    window: {
      type: "string",
      value: "N",
      help: "show the usage of a context window of N tokens, and what can be removed",
    },
    prune: { type: "boolean", help: "shorten old tool results as far as the window requires" },
    "reserve-tokens": { type: "string", value: "N", help: "tokens reserved for the answer (default 16384)" },
    "keep-recent-tokens": {
      type: "string",
      value: "N",
      help: "newest tokens that compaction would keep (default 20000)",
    },
    full: { type: "boolean", help: "show whole messages, not only their first line" },
  },
  examples: [
    "context @last",
    "context 01JGN3 --window 200000",
    "context @last --window 32000 --prune",
    "context @last --json --repair none",
  ],
  async run({ sessions, resolveSession, args: [ref = ""], values, callOptions }) {
    const repair = choiceOption("repair", values.repair, REPAIR_MODES, "synthesize")
    const window = integerOption("window", values.window, 1)
    const isPruned = values.prune === true
    const reserveTokens = integerOption("reserve-tokens", values["reserve-tokens"], 0) ?? DEFAULTS.reserveTokens
    const keepRecentTokens =
      integerOption("keep-recent-tokens", values["keep-recent-tokens"], 0) ?? DEFAULTS.keepRecentTokens
    if (window === undefined)
      for (const name of ["prune", "reserve-tokens", "keep-recent-tokens"] as const)
        if (values[name] !== undefined)
          throw new UsageError(`--${name} requires --window N, the context window of the model in tokens.`)
    const id = await resolveSession(ref)
    const session = await sessions.open(id, callOptions)
    try {
      const options = { ...callOptions, repair, ...(window === undefined ? {} : { window }) }
      const whole = await session.context({ ...options, shorten: false })
      const pruned = window === undefined ? undefined : await session.context({ ...options, shorten: shorten() })
      const shown = isPruned && pruned !== undefined ? pruned : whole
      const usage =
        window === undefined || pruned === undefined
          ? undefined
          : windowUsage({ shown, whole, pruned }, { window, reserveTokens, keepRecentTokens })
      const { leafId } = session
      return {
        json: { id, leafId, ...shown, ...(usage === undefined ? {} : { fill: usage }) },
        text: (view) => [
          ...summaryLines(shown, window),
          ...(usage === undefined ? [] : windowUsageLines(usage, view, isPruned)),
          ...diagnosticLines(shown.diagnostics, MAX_DIAGNOSTICS),
          ...shown.messages.flatMap((item, index) => messageLines(item, index, values.full === true, view)),
        ],
      }
    } finally {
      await session.close()
    }
  },
})

const MAX_DIAGNOSTICS = 10
const DEFAULTS = { reserveTokens: 0, keepRecentTokens: 0, ...PRESETS.reserve }

function summaryLines(
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
  const start = compaction === undefined ? [] : [styled("dim", `starts with compaction ${compaction.entryId}`)]
  return [styled("bold", facts.join(" · ")), ...start]
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
