/** Opens a compacted session with 100 KB of context by a new storage. The raw loop is one GET of its tail. */
import { GetObjectCommand } from "@aws-sdk/client-s3"
import { createSessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { createS3Storage } from "@sessions/s3"
import { turn } from "../data.ts"
import { median, type Result, timed } from "../report.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"
import { makeBucket } from "./bucket.ts"

const TURNS = 500

export async function s3Resume(rounds: number): Promise<Result> {
  const { client, name: bucket, requests } = await makeBucket()
  const id = await written()
  requests()
  let tail = ""
  let asked = 0
  let bytes = 0
  let messages = 0
  const parsed: number[] = []
  const pair = await inTurns(
    {
      async ours() {
        const sessions = createSessions({ storage: createS3Storage({ client, bucket }) })
        const time = await milliseconds(async () => {
          messages = (await (await sessions.open(id)).context()).messages.length
        })
        const all = requests()
        asked = all.length
        tail = all[0]?.key ?? ""
        verify(messages > 10 && messages < TURNS, `${messages} messages`)
        await sessions.close()
        return time
      },
      async raw(round) {
        let got: Uint8Array = new Uint8Array()
        const time = await milliseconds(async () => {
          const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: tail }))
          got = (await Body?.transformToByteArray()) ?? got
        })
        bytes = got.length
        verify(bytes > 100_000, `the tail has ${bytes} bytes`)
        const parse = await milliseconds(() => new TextDecoder().decode(got).trimEnd().split("\n").map(parseLine))
        if (round > 0) parsed.push(time + parse)
        requests()
        return time
      },
    },
    rounds,
  )
  return {
    ...timed("s3.resume", "ms", pair),
    work: { requests: asked, bytes, messages, "raw and JSON.parse": median(parsed) },
  }

  async function written(): Promise<string> {
    const sessions = createSessions({ storage: createS3Storage({ client, bucket }) })
    const session = await sessions.create()
    for (let i = 0; i < TURNS; i += 100) {
      await session.append(Array.from({ length: 100 }, (_, k) => turn(i + k)).flat())
    }
    await compact(session, { summarize: async () => "## Goal\nKeep going.", keepRecentTokens: 22_000 })
    await sessions.close()
    return session.id
  }
}

function parseLine(line: string): unknown {
  return JSON.parse(line)
}
