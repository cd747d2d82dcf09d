import type { HistoryMessage, Session, SessionInfo, SessionMetrics } from "@sessions/core"
import type { PartInfo } from "@sessions/core/storage"
import { integerOption } from "../option-values.ts"
import { type Command, defineCommand } from "../command.ts"
import { agentIdOf } from "../store/agent-ids.ts"
import { conversationOf } from "../store/conversation.ts"
import { formatBytes, formatCount, formatNumber, formatSize, formatTime, isKnownTime, table } from "../output/format.ts"
import { body, preview, roleSpan } from "../output/messages.ts"
import { type Line, type Span, styled } from "../output/lines.ts"

export const show: Command = defineCommand({
  name: "show",
  summary: "show the information about a session and its newest messages",
  args: ["ID"],
  options: {
    last: { type: "string", value: "N", help: "number of messages (default 10)" },
    parts: { type: "boolean", help: "list the parts that the log is stored in" },
    full: { type: "boolean", help: "show whole messages, not only their first lines" },
  },
  examples: ["show @last", "show 01JGN3 --last 50", "show @last --parts --last 0", "show @last --json"],
  async run({ sessions, resolveSession, args: [ref = ""], values, callOptions }) {
    const last = integerOption("last", values.last, 0) ?? 10
    const id = await resolveSession(ref)
    // Without messages the session need not be opened: the information is stored apart from the log.
    const conversation = last === 0 ? sessions : await conversationOf(sessions, id, callOptions)
    const messages = last === 0 ? [] : await readNewest(await conversation.open(id), last)
    const stored = await sessions.info(id)
    const info = conversation === sessions ? stored : withMessages(stored, await conversation.info(id))
    const agentId = await agentIdOf(sessions, id)
    return {
      json: { info, messages, ...(agentId === undefined ? {} : { agentId }) },
      text: () => [
        ...infoLines(info, agentId),
        ...(values.parts === true ? ["", ...partLines(info.parts)] : []),
        ...messages.flatMap((message) => ["", ...messageLines(message, values.full === true)]),
      ],
    }
  },
})

/** What follows from the messages, in the information about a session that has them in lines of another SDK. */
function withMessages(stored: SessionInfo, found: SessionInfo): SessionInfo {
  const { messageCount, firstPrompt, model, metrics, inheritedMetrics } = found
  return {
    ...stored,
    messageCount,
    metrics,
    ...(inheritedMetrics === undefined ? {} : { inheritedMetrics }),
    ...(firstPrompt === undefined ? {} : { firstPrompt }),
    ...(model === undefined ? {} : { model }),
  }
}

async function readNewest(session: Session, last: number): Promise<readonly HistoryMessage[]> {
  try {
    let messages: readonly HistoryMessage[] = []
    let before: string | undefined
    do {
      const limit = Math.min(PAGE, last - messages.length)
      const page = await session.messages({ limit, ...(before === undefined ? {} : { before }) })
      messages = [...page.messages, ...messages]
      before = page.before
    } while (before !== undefined && messages.length < last)
    return messages
  } finally {
    await session.close()
  }
}

/** Maximum number of messages in a page. */
const PAGE = 1000

/** Calls whose usage nobody reported count 0 tokens, so a sum of 0 is not known. */
function usageOf(metrics: SessionMetrics | undefined): string | undefined {
  if (metrics === undefined || metrics.calls === 0) return undefined
  const { input, output, totalTokens, calls, cost } = metrics
  const known = totalTokens > 0 || input > 0 || output > 0
  const tokens = known ? `${formatNumber(input)} tokens in, ${formatNumber(output)} out` : "unknown tokens"
  return `${tokens}, ${formatCount(calls, "call")}${cost === undefined ? "" : `, cost ${cost.toFixed(2)}`}`
}

function infoLines(info: SessionInfo, agentId: string | undefined): Line[] {
  const rows: [string, string | undefined][] = [
    ["title", info.title === undefined ? undefined : preview(info.title, TEXT_UNITS)],
    ["first prompt", info.firstPrompt === undefined ? undefined : preview(info.firstPrompt, TEXT_UNITS)],
    ["id in the agent", agentId],
    ["folder", info.cwd],
    ["kind", info.kind],
    ["created", timeOf(info.createdAt)],
    ["last message", timeOf(info.lastMessageAt)],
    ["messages", formatNumber(info.messageCount)],
    ["model", info.model === undefined ? undefined : `${info.model.provider}/${info.model.model}`],
    ["usage", usageOf(info.metrics)],
    ["of its parent", usageOf(info.inheritedMetrics)],
    ["parent", parentOf(info)],
    ["open branches", openBranchesOf(info)],
    ["size", formatSize(info.parts.length, info.bytes)],
    [
      "incomplete",
      info.incomplete === true
        ? "its import, fork or copy was interrupted; run the same command again to finish it"
        : undefined,
    ],
  ]
  const present = rows.flatMap(([name, value]): Span[][] => (value === undefined ? [] : [[styled("dim", name), value]]))
  return [styled("bold", info.id), ...table(present, ["left", "left"])]
}

function timeOf(iso: string): string | undefined {
  return isKnownTime(iso) ? `${formatTime(iso)} UTC` : undefined
}

const TEXT_UNITS = 200

function openBranchesOf({ openTips }: SessionInfo): string | undefined {
  if (openTips === undefined || openTips.tips.length === 0) return undefined
  const also = openTips.more === undefined ? "" : `, and up to ${formatNumber(openTips.more)} more`
  return openTips.tips.map(({ id }) => id).join(", ") + also
}

function parentOf({ parentSession: parent }: SessionInfo): string | undefined {
  if (parent === undefined) return undefined
  if ("ref" in parent) return parent.ref
  return parent.entryId === undefined ? parent.id : `${parent.id} at ${parent.entryId}`
}

function partLines(parts: readonly PartInfo[]): Line[] {
  const heading = ["PART", "FIRST LINE", "SIZE", "LOCATION"].map((name) => styled("dim", name))
  const rows = parts.map((part, index) => [
    String(index + 1),
    formatNumber(part.from),
    formatBytes(part.bytes),
    part.at ?? "",
  ])
  return table([heading, ...rows], ["right", "right", "right", "left"])
}

function messageLines({ message, timestamp, entryId }: HistoryMessage, full: boolean): Line[] {
  const heading = [roleSpan(message.role), styled("dim", `  ${formatTime(timestamp)}  ${entryId}`)]
  return [heading, ...body(message, full ? Number.POSITIVE_INFINITY : SHOWN_LINES)]
}

const SHOWN_LINES = 8
