/** Appends one message of 2 KB at a time, each awaited. The raw loop puts the same bytes with the same client. */
import { PutObjectCommand } from "@aws-sdk/client-s3"
import { createSessions } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"
import { message } from "../data.ts"
import { type Result, timed } from "../report.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"
import { makeBucket, type Request } from "./bucket.ts"

export async function s3Append(count: number, rounds: number): Promise<Result> {
  const { client, name: bucket, requests } = await makeBucket()
  const sessions = createSessions({ storage: createS3Storage({ client, bucket }) })
  // One session for all rounds, since a new session has a smaller tail than a long one.
  const session = await sessions.create()
  for (let i = 0; i < count; i++) await session.append(message(i))
  requests()
  let puts: readonly Put[] = []
  let asked = 0
  const each = (ms: number): number => (ms * 1_000) / count
  const pair = await inTurns(
    {
      async ours() {
        const time = await milliseconds(async () => {
          for (let i = 0; i < count; i++) await session.append(message(i))
        })
        const all = requests()
        asked = all.length
        puts = all.filter(isPut)
        return each(time)
      },
      async raw() {
        const time = await milliseconds(async () => {
          for (const { key, body } of puts) {
            const object = { Bucket: bucket, Key: `raw/${key}`, Body: body, ContentLength: body.length }
            await client.send(new PutObjectCommand(object))
          }
        })
        requests()
        return each(time)
      },
    },
    rounds,
  )
  const { messageCount } = await session.info()
  verify(messageCount === count * (rounds + 2), `${messageCount} messages are in the log`)
  await sessions.close()
  const bytes = puts.reduce((sum, { body }) => sum + body.length, 0)
  const work = { "requests/append": asked / count, "KB/request": bytes / puts.length / 1_000 }
  return { ...timed("s3.append", "µs/message", pair), work }
}

type Put = Request & { readonly body: Uint8Array }

function isPut(request: Request): request is Put {
  return request.kind === "PutObject" && request.body !== undefined
}
