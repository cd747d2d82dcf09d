/** Gives a session a title that a model has made. */
import { SessionError } from "../../format/errors.ts"
import { checkCallOptions, type OptionChecks } from "../../format/options.ts"
import { isAnything } from "../../format/shape.ts"
import { CALL } from "../../session/arguments.ts"
import type { Session } from "../../session/types.ts"
import type { CallOptions } from "../../storage/contract.ts"
import { checkSignal, signalOf } from "../../storage/signals.ts"
import { readAnswer } from "../summary/answer.ts"
import { serializeConversation } from "../summary/serialize.ts"
import type { Summarize } from "../../compaction-settings/types.ts"

export interface NameSessionOptions extends CallOptions {
  /** Your model, as for summaries: it gets `{ system, prompt, maxTokens, signal }`, and answers with a text or its client's answer. */
  readonly ask: Summarize
}

const OPTIONS: OptionChecks<NameSessionOptions> = { ...CALL, ask: isAnything }

/** UTF-16 units of the conversation's beginning: a title says what it began with. */
const PROMPT_UNITS = 6_000
/** A line of a list. */
const TITLE_UNITS = 80
/** Far more than a title has, since models that think spend theirs before it. */
const MAX_TOKENS = 2_000

const SYSTEM =
  "You name conversations. Answer with the title alone: at most six words, in the language of the conversation, without quotation marks and without a full stop."

/**
 * Asks a model for a title of the conversation, and stores it as an automatic one (`source: "auto"`), over which a title by the user has priority, also one that is
 * given meanwhile. Returns the title. Call it after a turn, such as the first one.
 *
 * Asks nothing and resolves with undefined if the session has a title, or no messages. Also undefined, with nothing written, if the answer is incomplete, refused
 * or empty: the next call asks again. Rejects with the error of `ask` as it is, `invalid` for wrong options, `aborted`, `closed`, and the errors of the storage. A
 * crash leaves the title or nothing.
 *
 * @example
 * ```ts
 * import { createSessions } from "@sessions/core"
 * import { nameSession } from "@sessions/core/compaction"
 * import { createMemoryStorage } from "@sessions/memory"
 *
 * const session = await createSessions({ storage: createMemoryStorage() }).create()
 * await session.append({ type: "message", message: { role: "user", content: "Why is the sky blue?" } })
 * await nameSession(session, { ask: async () => "The colour of the sky" }) // "The colour of the sky"
 * ```
 */
export async function nameSession(
  session: Pick<Session, "id" | "info" | "context" | "title">,
  o: NameSessionOptions,
): Promise<string | undefined> {
  checkCallOptions("nameSession", o, OPTIONS, { session: session.id })
  checkSignal(o.signal)
  if (typeof o.ask !== "function")
    throw new SessionError("invalid", "nameSession needs `ask`, a function that calls your model.", {
      session: session.id,
    })
  const call = signalOf(o)
  if ((await session.info(call)).title !== undefined) return undefined
  const { messages } = await session.context(call)
  const beginning = serializeConversation(messages).slice(0, PROMPT_UNITS)
  if (beginning === "") return undefined
  const prompt = `<conversation>\n${beginning}\n</conversation>\n\nThe title of this conversation:`
  const signal = o.signal ?? new AbortController().signal
  const answer = readAnswer(await o.ask({ system: SYSTEM, prompt, maxTokens: MAX_TOKENS, signal }))
  checkSignal(o.signal)
  const title = answer.problem === undefined ? titleOf(answer.text) : ""
  if (title === "") return undefined
  await session.title(title, { ...call, source: "auto" })
  return title
}

/** The first line of an answer, without what models put around a title in spite of the prompt. */
function titleOf(text: string): string {
  const line = text.split("\n").find((one) => one.trim() !== "") ?? ""
  const plain = line.replaceAll(/^[\s#*"'“„«`]+|[\s*"'”“»`.]+$/g, "").replace(/^title: */i, "")
  // Never inside a surrogate pair.
  return plain.slice(0, TITLE_UNITS).replace(/[\uD800-\uDBFF]$/, "")
}
