/** Answers one request. The question and the answer are in the log once, even if the request is repeated. */
import type { Message, Session, SessionContext } from "@sessions/core"

type ModelMessage = SessionContext["messages"][number]["message"]

/** Your model: takes messages, the question last, and returns one. */
export type Ask = (messages: readonly ModelMessage[]) => Promise<Message>

export interface Question {
  /** A ULID chosen by the caller, the same in every repetition of the request. */
  readonly id: string
  readonly text: string
}

/** Messages in which a repeated request looks for its answer; repetitions come soon. */
const RECENT_MESSAGES = 50

/**
 * Returns the answer in the log, and whether it was there before this call. The question and the answer are one append: a crash leaves
 * neither, and no entry of another function comes between them. If another function was faster, the turn is repeated after its
 * entries; the fourth such attempt fails with `conflict`.
 */
export async function answer(
  session: Session,
  { id, text }: Question,
  ask: Ask,
): Promise<{ readonly message: Message; readonly repeated: boolean }> {
  const answerId = nextUlid(id)
  const find = async (turn: Pick<Session, "messages">): Promise<Message | undefined> => {
    const { messages } = await turn.messages({ limit: RECENT_MESSAGES })
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
    // Another function may have answered the same request meanwhile. Then the ids were in the log, and nothing was written.
    return { message: (await find(turn)) ?? message, repeated: false }
  })
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** The next ULID, so all functions that handle the same request use the same id for its answer. */
function nextUlid(id: string): string {
  let rest = id
  let zeros = ""
  while (rest.endsWith("Z")) {
    rest = rest.slice(0, -1)
    zeros += "0"
  }
  const last = DIGITS[DIGITS.indexOf(rest.at(-1) ?? "") + 1]
  return `${rest.slice(0, -1)}${last}${zeros}`
}
