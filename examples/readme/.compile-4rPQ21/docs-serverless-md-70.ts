import { S3Client } from "@aws-sdk/client-s3"
import { type ContextMessage, createSessions, httpStatus, type NewMessage } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"

// Once for each instance of the function; it connects at the first request.
const storage = createS3Storage({
  client: new S3Client(), // region and credentials are in the environment of a function
  bucket: process.env.BUCKET!,
  prefix: "prod",
  etags: "quoted", // what `probe()` has answered
  patience: 5_000, // below the timeout of the function, so that it can still answer
})
const sessions = createSessions({ storage, ulidsOnly: true })

async function ask(messages: readonly ContextMessage["message"][]): Promise<NewMessage> {
  return { role: "assistant", content: `I have read ${messages.length} messages.` }
}

interface FunctionEvent {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: string
  readonly isBase64Encoded?: boolean
}

/** `{ "session": ULID, "text": … }`: a turn in this session, which begins with its first one. */
export async function handler({ headers, body = "", isBase64Encoded = false }: FunctionEvent) {
  const { TOKEN } = process.env
  if (!TOKEN || headers["authorization"] !== `Bearer ${TOKEN}`) return { statusCode: 404 }
  try {
    const { session: id, text } = JSON.parse(isBase64Encoded ? Buffer.from(body, "base64").toString() : body)
    const session = await sessions.openOrCreate(id)
    const message = await session.turn(async (turn) => {
      const question = { role: "user", content: text } as const
      for (;;) {
        try {
          await turn.makeRoom()
          const { messages } = await turn.context()
          const answer = await ask([...messages.map((one) => one.message), question])
          // One append, so that a crash leaves the whole turn or nothing.
          await turn.append([
            { type: "message", message: question },
            { type: "message", message: answer },
          ])
          return answer
        } catch (error) {
          await turn.makeRoom({ error }) // if it was too long for the model; any other error is thrown on
        }
      }
    })
    await session.close()
    return { statusCode: 200, body: JSON.stringify(message) }
  } catch (error) {
    console.error(error) // names the bucket and the key: for the log, not for the caller
    return { statusCode: httpStatus(error) }
  }
}
export {}
