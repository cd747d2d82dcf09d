/**
 * Makes room in a context that is too large for its model, step by step. What was done since the last answer is read from the log, so another
 * process continues where this one has stopped.
 */
import type { Selection } from "../../context/select.ts"
import { SessionError } from "../../format/errors.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { signalOf } from "../../storage/signals.ts"
import { utf8Length } from "../../storage/utf8.ts"
import { renderMessages } from "../../context/render.ts"
import type { CompactableSession, CompactionCaller } from "../../session/live.ts"
import { selectAt } from "../../session/read-path.ts"
import { resolveSettings } from "../settings/settings.ts"
import { type Refusal, refusalOf } from "../summary/too-long.ts"
import type { MakeRoomOptions, RoomResult } from "../types.ts"
import { settingsInForce } from "./compact.ts"
import { failed, kindOf } from "./failure.ts"
import { causeOf } from "./fitting.ts"
import { checkMakeRoom } from "./options.ts"
import { compactFurther } from "./run.ts"
import { sentContext, type SentContext } from "./sent-context.ts"
import { isHopeless, sinceAnswer, unitsBesideSummary } from "./since-answer.ts"

/** Summaries until the model answers: by the settings, with half of what was kept, and with what must stay. */
const SUMMARIES = 3

export async function makeRoom(
  live: CompactableSession,
  by: CompactionCaller,
  o: MakeRoomOptions,
): Promise<RoomResult> {
  checkMakeRoom(live.id, o)
  const { error, ...layer } = o
  const reading = signalOf(o)
  const refusal = error === undefined ? undefined : refusalOf(error)
  if (error !== undefined && refusal === undefined) throw error
  const resolved = resolveSettings(...by.layers, layer)
  if (live.compaction.running) throw failed(live.id, "another compaction is running; wait for it to end")
  const look = async (): Promise<Situation> => {
    const selection = await selectAt(live, live.state.leafId, reading)
    const settings = settingsInForce(live, selection, resolved)
    const sent = await sentContext(live, selection, settings, reading)
    return { selection, sent, limit: sent.ruler.limit(settings.window) }
  }
  let now = await look()
  if (refusal !== undefined) {
    await live.append([refusalEntry(now, refusal)], reading)
    now = await look()
  }
  let step: RoomResult["step"] = "none"
  // A refusal for bytes or images says nothing of the tokens: one compaction is tried for each.
  while (!isEnough(now, refusal, step)) {
    const { ruler } = now.sent
    const since = sinceAnswer(live, now.selection)
    const { summaries, isNew } = since
    const isAllowed = (summaries < SUMMARIES || isNew) && !isHopeless(since, now.sent.messages, resolved.countTokens)
    const canAsk = resolved.summarize !== undefined && isAllowed
    const most = [undefined, (ruler.tokens - ruler.before) / 2, 0][Math.min(summaries, SUMMARIES - 1)]
    if (!canAsk) {
      if (refusal === undefined) break
      if (step === "none") throw await end(live, now, resolved.countTokens, error)
      break
    }
    try {
      await compactFurther(live, by, layer, most)
      step = "compacted"
    } catch (failure) {
      if (kindOf(failure) === "stopped") throw failure
      // The next attempt keeps less.
      await live.append([{ type: "context_step", step: "failed", units: ruler.units }], reading)
    }
    now = await look()
  }
  return { step, tokens: now.sent.ruler.tokens, limit: now.limit, fits: now.sent.ruler.tokens <= now.limit }
}

interface Situation {
  readonly selection: Selection
  readonly sent: SentContext
  /** The most tokens that the model takes. */
  readonly limit: number
}

function isEnough({ sent, limit }: Situation, refusal: Refusal | undefined, step: RoomResult["step"]): boolean {
  return sent.ruler.tokens <= limit && (refusal === undefined || step !== "none")
}

function refusalEntry({ selection, sent }: Situation, refusal: Refusal): NewEntry {
  const model = selection.state.models["default"]
  const messages = renderMessages(sent.entries).messages.map(({ message }) => message)
  return {
    type: "context_refusal",
    ...refusal,
    ...model,
    units: sent.ruler.units,
    bytes: utf8Length(JSON.stringify(messages)),
  }
}

async function end(
  live: CompactableSession,
  { selection, sent, limit }: Situation,
  count: TokenCounter | undefined,
  cause: unknown,
): Promise<SessionError> {
  const { ruler, messages } = sent
  const model = selection.state.models["default"]
  await live.append([{ type: "context_step", step: "end", ...model, units: unitsBesideSummary(messages, count) }])
  const why = causeOf(ruler, limit, renderMessages(sent.entries).messages).text
  const message = `The provider refuses the context of session ${live.id}, of about ${ruler.tokens} tokens, and nothing is left to summarize: ${why}. Delete or edit a large message, or change the model.`
  return new SessionError("no_room", message, { session: live.id, cause })
}
