/**
 * Makes room in a context that is too large for its model, step by step. What was done since the last answer is read from the log, so another
 * process continues where this one has stopped.
 */
import type { Selection } from "../../context/select.ts"
import { SessionError } from "../../format/errors.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { signalOf } from "../../storage/signals.ts"
import type { CompactableSession, CompactionCaller } from "../../session/live-types.ts"
import { selectAt } from "../../session/read-path.ts"
import { resolveSettings } from "../plan/settings.ts"
import { knownWindow } from "../../compaction-settings/windows.ts"
import { type Refusal, refusalOf } from "../refusals.ts"
import type { MakeRoomOptions, RoomResult } from "../../compaction-settings/types.ts"
import { settingsInForce } from "./compact.ts"
import { failedError, isOutOfReach, kindOf } from "./failure.ts"
import { causeOf } from "./fitting.ts"
import { isOverBytes, roomOf } from "./room.ts"
import { isWithin, planCut, planImages, planLeftOut, planResults, type Room, type StepFields } from "./room-steps.ts"
import { compactFurther } from "./run.ts"
import { sentContext, type SentContext } from "./sent-context.ts"
import { isHopeless, type SinceAnswer, sinceAnswer, smallestUnits } from "./since-answer.ts"

/** Summaries until the model answers: by the settings, with half of what was kept, and with what must stay. */
const SUMMARIES = 3

export async function roomFor(live: CompactableSession, by: CompactionCaller, o: MakeRoomOptions): Promise<RoomResult> {
  const { error, ...layer } = o
  const reading = signalOf(o)
  const refusal = error === undefined ? undefined : refusalOf(error)
  if (error !== undefined && refusal === undefined) throw error
  const resolved = resolveSettings(...by.layers, layer)
  const handle = resolveSettings(...by.layers)
  checkIdle(live)
  const look = async (): Promise<Situation> => {
    const selection = await selectAt(live, live.state.leafId, reading)
    const settings = settingsInForce(live, selection, resolved)
    const sent = await sentContext(live, selection, settings, reading)
    // Contexts hold the steps by the settings of their handle.
    const window = Math.max(settings.window, knownWindow(selection, handle) ?? 0)
    return { selection, sent, window, room: roomOf(live, selection, sent, settings) }
  }
  let now = await look()
  if (refusal !== undefined) {
    await live.append([refusalEntry(now, refusal)], reading)
    now = await look()
  }
  let step: RoomResult["step"] = "none"
  let isLeast = false
  const isEnough = (): boolean => isWithin(now.room.load, now.room.limits) && (refusal === undefined || step !== "none")
  while (!isEnough()) {
    const past = sinceAnswer(live, now.selection, live.compaction.failedAt)
    const free = planResults(now.room) ?? planImages(now.room, false)
    const isAllowed =
      (past.summaries < SUMMARIES || past.isNew) && !isHopeless(past, now.sent.messages, resolved.countTokens)
    const canAsk = resolved.summarize !== undefined && !isLeast && isAllowed
    if (free === undefined && canAsk && mayHelp(now.room, refusal)) {
      // Another call may have begun one meanwhile.
      checkIdle(live)
      try {
        await compactFurther(live, by, layer, mostKept(now, past))
        step = "compacted"
      } catch (failure) {
        if (kindOf(failure) === "stopped") throw failure
        // The cut went as far as it can, so no other one helps.
        if (isOutOfReach(failure)) isLeast = true
        // The next attempt keeps less.
        else await live.append([{ type: "context_step", step: "failed", units: now.sent.ruler.units }], reading)
      }
    } else {
      const last = refusal === undefined ? undefined : planLast(now.room, past)
      const plan = free ?? last
      if (plan === undefined) {
        if (refusal !== undefined && step === "none") throw await end(live, now, resolved.countTokens, error)
        break
      }
      await live.append([{ type: "context_step", ...plan, window: now.window }], reading)
      step = plan.step as RoomResult["step"]
    }
    now = await look()
  }
  const { load, limits } = now.room
  return { step, tokens: load.tokens, limit: limits.tokens, fits: isWithin(load, limits) }
}

function checkIdle({ id, compaction }: CompactableSession): void {
  if (compaction.running) throw failedError(id, "another compaction is running; wait for it to end")
}

interface Situation {
  readonly selection: Selection
  readonly sent: SentContext
  readonly room: Room
  /** The largest window in which a step holds. */
  readonly window: number
}

/** Whether a summary of the older part can be what is missing: it takes the place of no unread image. */
function mayHelp({ messages, load, limits }: Room, refusal: Refusal | undefined): boolean {
  if (load.tokens > limits.tokens) return true
  if (load.bytes > limits.bytes) return isOverBytes({ messages, load, limits })
  return refusal !== undefined && load.images <= limits.images
}

function mostKept({ sent: { ruler } }: Situation, { summaries }: SinceAnswer): number | undefined {
  return [undefined, (ruler.tokens - ruler.before) / 2, 0][Math.min(summaries, SUMMARIES - 1)]
}

/** The next step after a refusal: it shortens messages that the model has not read. */
function planLast(room: Room, { cut }: SinceAnswer): StepFields | undefined {
  return planImages(room, true) ?? planCut(room, cut) ?? planLeftOut(room)
}

function refusalEntry({ selection, sent, room }: Situation, refusal: Refusal): NewEntry {
  const { bytes, images } = room.load
  return {
    type: "context_refusal",
    ...(refusal.kind === "images" ? { count: images } : {}),
    ...refusal,
    ...selection.state.models["default"],
    units: sent.ruler.units,
    bytes,
  }
}

async function end(
  live: CompactableSession,
  { selection, sent, room }: Situation,
  count: TokenCounter | undefined,
  cause: unknown,
): Promise<SessionError> {
  const { load, limits, messages } = room
  const model = selection.state.models["default"]
  await live.append([{ type: "context_step", step: "end", ...model, units: smallestUnits(messages, count) }])
  const why = causeOf(sent.ruler, limits.tokens, messages).text
  const more = load.images > 0 ? `, ${load.bytes} bytes and ${load.images} images` : ` and ${load.bytes} bytes`
  const message = `The provider refuses the context of session ${live.id}, of about ${load.tokens} tokens${more}, and nothing is left to shorten: ${why}. Delete or edit a large message, or change the model.`
  return new SessionError("no_room", message, { session: live.id, cause })
}
