/** Answers one request. The question and the answer are in the log once, even if the request is repeated. */
import { hasCode, type Message, type Session, type SessionContext, SessionError } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"

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
    const message = await askInRoom(turn, question, ask)
    try {
      await turn.append([
        { id, type: "message", message: question },
        { id: answerId, type: "message", message },
      ])
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

/** A request that is too long for the model is made shorter, and sent again. */
async function askInRoom(turn: Session, question: ModelMessage, ask: Ask): Promise<Message> {
  for (;;) {
    try {
      await makeRoom(turn)
      const { messages } = await turn.context()
      return await ask([...messages.map((one) => one.message), question])
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}

async function storedAnswer(
  turn: Pick<Session, "messages">,
  { id, text }: Question,
  answerId: string,
): Promise<Message | undefined> {
  const asked = await messageWith(turn, id)
  if (asked === undefined) return undefined
  const [block, ...more] = Array.isArray(asked.content) ? (asked.content as readonly unknown[]) : []
  const isText = (block as { type?: unknown } | undefined)?.type === "text" && more.length === 0
  const isSame = isText && asked.role === "user" && (block as { text?: unknown }).text === text
  if (!isSame) throw new SessionError("exists", `The id ${id} belongs to another message. Choose a new one.`)
  const stored = await messageWith(turn, answerId)
  if (stored?.role === "assistant") return stored
  throw new SessionError("exists", `The id ${id} belongs to a message without an answer of its own. Choose a new one.`)
}

/** Milliseconds by which the clocks of callers and functions may differ. */
const CLOCKS_DIFFER = 24 * 60 * 60 * 1000

/**
 * The message with an id. Reads no further back than to a message from before the id was made: a new question costs the newest page, however
 * long the log is.
 */
async function messageWith(turn: Pick<Session, "messages">, id: string): Promise<Message | undefined> {
  const made = Math.min(timeOf(id), Date.now()) - CLOCKS_DIFFER
  let before: string | undefined
  do {
    const page = await turn.messages(before === undefined ? {} : { before })
    const found = page.messages.find(({ entryId }) => entryId === id)
    if (found !== undefined) return found.message
    if (page.messages.some(({ timestamp }) => Date.parse(timestamp) < made)) return undefined
    before = page.before
  } while (before !== undefined)
  return undefined
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** Milliseconds since the epoch: the first ten digits of a ULID. */
function timeOf(id: string): number {
  return Array.from(id.slice(0, 10)).reduce((time, digit) => time * 32 + DIGITS.indexOf(digit), 0)
}

/**
 * The id of the answer, the same in all functions that handle the same request: the time of the question's id, and a hash of both ids. The
 * next ULID would not do: consecutive ULIDs are what a client makes for two questions in one millisecond.
 */
async function answerIdOf(session: string, question: string): Promise<string> {
  const bytes = new TextEncoder().encode(`answer\n${session}\n${question}`)
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
  return question.slice(0, 10) + Array.from(hash.subarray(0, 16), (byte) => DIGITS[byte % 32]).join("")
}
