/** One request of a conversation: the user's message and the model's answer, each in the log once, however often it is asked for. */
import type { Message, Session, SessionContext } from "@sessions/core"

/** Your model: gets messages, answers with one. */
export type Ask = (messages: SessionContext["messages"]) => Promise<Message>

export interface Question {
  /** A ULID of the caller's; the same for every repetition of the request. */
  readonly id: string
  readonly text: string
}

/** A repetition comes soon after what it repeats. */
const LOOKED_AT = 50

/**
 * The answer, and whether it was there already. Where another function answers something else at the same time, the turn starts
 * over behind it; `conflict` after three more tries.
 */
export async function answer(
  session: Session,
  { id, text }: Question,
  ask: Ask,
): Promise<{ readonly message: Message; readonly repeated: boolean }> {
  const answerId = following(id)
  return session.turn(async (turn) => {
    const { messages: recent } = await turn.messages({ limit: LOOKED_AT })
    const known = recent.find(({ entryId }) => entryId === answerId)
    if (known !== undefined) return { message: known.message, repeated: true }
    // One whose first request died here is in the log already: its id is acknowledged, and written once.
    await turn.append({ id, type: "message", message: { role: "user", content: text } })
    const message = await ask((await turn.context()).messages)
    await turn.append({ id: answerId, type: "message", message })
    return { message, repeated: false }
  })
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** The next ULID: two functions that work on one request call its answer by the same name. */
function following(id: string): string {
  let rest = id
  let zeros = ""
  while (rest.endsWith("Z")) {
    rest = rest.slice(0, -1)
    zeros += "0"
  }
  const last = DIGITS[DIGITS.indexOf(rest.at(-1) ?? "") + 1]
  return `${rest.slice(0, -1)}${last}${zeros}`
}
