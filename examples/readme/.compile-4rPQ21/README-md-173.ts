import { S3Client } from "@aws-sdk/client-s3"
import { type ContextMessage, createSessions, type NewMessage } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"

const storage = createS3Storage({ client: new S3Client(), bucket: process.env.BUCKET!, prefix: "agents" })
const sessions = createSessions({ storage })
// Replace this with your model.
async function ask(messages: readonly ContextMessage[]): Promise<NewMessage> {
  return { role: "assistant", content: `I have read ${messages.length} messages.` }
}

export async function handle(request: Request): Promise<Response> {
  const { id, text } = await request.json()
  const session = await sessions.openOrCreate(id)
  const answer = await session.turn(async (turn) => {
    await turn.append({ type: "message", message: { role: "user", content: text } })
    for (;;) {
      try {
        await turn.makeRoom()
        const message = await ask((await turn.context()).messages)
        await turn.append({ type: "message", message })
        return message
      } catch (error) {
        await turn.makeRoom({ error })
      }
    }
  })
  await session.close()
  return Response.json(answer)
}

const body = JSON.stringify({ id: "01K8ZQ4Y9G3V5N7B2M6X0CTRPD", text: "hello" })
const response = await handle(new Request("https://agent.example/", { method: "POST", body }))
console.log((await response.json()).content)
export {}
