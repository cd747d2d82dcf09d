/** One request of a conversation: the user's message and the model's answer, each in the log once, however often it is asked for. */
import type { Message, Session, SessionContext } from "@sessions/core"

type ModelMessage = SessionContext["messages"][number]["message"]

/** Your model: gets messages, the question last, and answers with one. */
export type Ask = (messages: readonly ModelMessage[]) => Promise<Message>

export interface Question {
  /** A ULID of the caller's; the same for every repetition of the request. */
  readonly id: string
  readonly text: string
}

/** A repetition comes soon after what it repeats. */
const LOOKED_AT = 50

/**
 * The answer as it stands in the log, and whether it was there before the model was asked. Question and answer are written together:
 * a function that dies leaves neither, and nothing of others comes between them. Where another function was faster, the turn starts
 * over behind what it wrote; `conflict` after three more tries.
 */
export async function answer(
  session: Session,
  { id, text }: Question,
  ask: Ask,
): Promise<{ readonly message: Message; readonly repeated: boolean }> {
  const answerId = following(id)
  const find = async (turn: Pick<Session, "messages">): Promise<Message | undefined> => {
    const { messages } = await turn.messages({ limit: LOOKED_AT })
    return messages.find(({ entryId }) => entryId === answerId)?.message
  }
  return session.turn(async (turn) => {
    const known = await find(turn)
    if (known !== undefined) return { message: known, repeated: true }
    const question: ModelMessage = { role: "user", content: [{ type: "text", text }] }
    const { messages } = await turn.context()
    const message = await ask([...messages.map((one) => one.message), question])
    await turn.append([
      { id, type: "message", message: question },
      { id: answerId, type: "message", message },
    ])
    // The same request may have been answered elsewhere at the same time: the ids are in the log then, and nothing was written.
    return { message: (await find(turn)) ?? message, repeated: false }
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
