/** Tells a model that it repeats itself. */
import type { NewMessage } from "../format/new-entry.ts"
import { findRepeatedCall, REPEATED_CALLS } from "./repeated-call.ts"
import type { ContextMessage } from "./types.ts"

/** The part of a session that is read: the one of a turn, or any other. */
interface Readable {
  context(): Promise<{ readonly messages: readonly ContextMessage[] }>
}

/** A message that `append` takes. An alias, because an interface has no index signature, which entries have. */
export type DoomLoopWarning = { readonly type: "message"; readonly message: NewMessage }

/**
 * A message for `append` that tells the model that it made one call again and again: if the context ends with the result of at least `least` equal calls in a
 * row (default 3), as `findRepeatedCall` counts them. Undefined otherwise, and behind a warning, so that a loop may ask after each step. Writes nothing.
 *
 * ```ts
 * const warning = await doomLoopWarning(turn)
 * if (warning !== undefined) await turn.append(warning)
 * ```
 *
 * Rejects as `session.context()` does.
 */
export async function doomLoopWarning(
  session: Readable,
  least: number = REPEATED_CALLS,
): Promise<DoomLoopWarning | undefined> {
  const { messages } = await session.context()
  if (messages.at(-1)?.message.role !== "toolResult") return undefined
  const call = findRepeatedCall(messages, least)
  if (call === undefined) return undefined
  const content = `You have called ${JSON.stringify(call.name)} ${call.count} times in a row with the same arguments. Do not call it so again: use the results that you have, try something else, or say what you need.`
  return { type: "message", message: { role: "user", content, synthetic: true } }
}
