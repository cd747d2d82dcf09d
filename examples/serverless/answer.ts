/** Answers one request. The question and the answer are in the log once, even if the request is repeated. */
import { type Entry, hasCode, type Message, type Session, type SessionContext, SessionError } from "@sessions/core"

type ModelMessage = SessionContext["messages"][number]["message"]

/** Your model: takes messages, the question last, and returns one. */
export type Ask = (messages: readonly ModelMessage[]) => Promise<Message>

export interface Question {
  /** A ULID chosen by the caller, the same in every repetition of the request. */
  readonly id: string
  readonly text: string
}

/**
 * Returns the answer in the log, and whether it was there before this call. The question and the answer are one append: a crash leaves
 * neither, and no entry of another function comes between them. If another function was faster, the turn is repeated after its
 * entries; the fourth such attempt fails with `conflict`. `exists` if the id belongs to another question or to no question.
 */
export async function answer(
  session: Session,
  { id, text }: Question,
  ask: Ask,
): Promise<{ readonly message: Message; readonly repeated: boolean }> {
  const question = { role: "user", content: [{ type: "text", text }] } as const
  const answerId = await answerIdOf(session.id, id)
  return session.turn(async (turn) => {
    const known = await storedAnswer(turn, { id, text }, answerId)
    if (known !== undefined) return { message: known, repeated: true }
    const { messages } = await turn.context()
    const message = await ask([...messages.map((one) => one.message), question])
    try {
      await turn.append(
        [
          { id, type: "message", message: question },
          { id: answerId, type: "message", message },
        ],
        // The look above has found that the log has neither.
        { repeats: "end" },
      )
    } catch (error) {
      if (!hasCode(error, "exists")) throw error
      // Another function has answered the same request meanwhile.
      const theirs = await storedAnswer(turn, { id, text }, answerId)
      if (theirs === undefined) throw error
      return { message: theirs, repeated: true }
    }
    return { message, repeated: false }
  })
}

/** Looks for both ids in the whole log, however old the first request is. */
async function storedAnswer(
  turn: Pick<Session, "entry">,
  { id, text }: Question,
  answerId: string,
): Promise<Message | undefined> {
  const asked = await turn.entry(id)
  if (asked === undefined) return undefined
  const message = messageOf(asked)
  const [block, ...more] = Array.isArray(message?.content) ? (message.content as readonly unknown[]) : []
  const isText = (block as { type?: unknown } | undefined)?.type === "text" && more.length === 0
  const isSame = isText && message?.role === "user" && (block as { text?: unknown }).text === text
  if (!isSame) throw new SessionError("exists", `The id ${id} belongs to another message. Choose a new one.`)
  const answered = await turn.entry(answerId)
  const stored = answered === undefined ? undefined : messageOf(answered)
  if (stored?.role === "assistant") return stored
  throw new SessionError("exists", `The id ${id} belongs to a message without an answer of its own. Choose a new one.`)
}

function messageOf(entry: Entry): Message | undefined {
  return entry.type === "message" ? (entry as { readonly message?: Message }).message : undefined
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/**
 * The id of the answer, the same in all functions that handle the same request: the time of the question's id, and a hash of both ids. The
 * next ULID would not do: consecutive ULIDs are what a client makes for two questions in one millisecond.
 */
async function answerIdOf(session: string, question: string): Promise<string> {
  const bytes = new TextEncoder().encode(`answer\n${session}\n${question}`)
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
  return question.slice(0, 10) + Array.from(hash.subarray(0, 16), (byte) => DIGITS[byte % 32]).join("")
}
