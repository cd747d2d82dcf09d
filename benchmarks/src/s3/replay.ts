/** Streams every entry of a session of 200 MB. The raw loop gets the same objects, some concurrently, and parses their lines. */
import { GetObjectCommand } from "@aws-sdk/client-s3"
import { createSessions } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"
import { turn } from "../data.ts"
import { type Result, timed } from "../report.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"
import { type Bucket, countByKind, makeBucket, type Request } from "./bucket.ts"

/** The fastest of 1, 2, 4 and 8. */
const AT_ONCE = 4

export async function s3Replay(size: number, rounds: number): Promise<Result> {
  const bucket = await makeBucket()
  const { client, name, requests } = bucket
  const id = await written()
  requests()
  let asked: readonly Request[] = []
  let entries = 0
  const pair = await inTurns(
    {
      async ours() {
        const sessions = createSessions({ storage: createS3Storage({ client, bucket: name }) })
        entries = 0
        const time = await milliseconds(async () => {
          const session = await sessions.open(id)
          for await (const _ of session.entries()) entries++
        })
        await sessions.close()
        asked = requests()
        return time
      },
      async raw() {
        let lines = 0
        const time = await milliseconds(async () => {
          lines = await getAndParse(bucket, distinct(asked))
        })
        requests()
        // The header, and the manifest.
        verify(lines === entries + 2, `${lines} lines in the objects, ${entries} entries`)
        return time
      },
    },
    rounds,
  )
  const counts = countByKind(asked)
  verify(Object.keys(counts).join() === "GetObject", `a replay asked for ${JSON.stringify(counts)}`)
  return { ...timed("s3.replay.200mb", "ms", pair), work: { entries, requests: asked.length } }

  async function written(): Promise<string> {
    const sessions = createSessions({ storage: createS3Storage({ client, bucket: name }) })
    const session = await sessions.create()
    for (let i = 0; (await session.parts()).bytes < size; i += 100) {
      await session.append(Array.from({ length: 100 }, (_, k) => turn(i + k)).flat())
    }
    await sessions.close()
    return session.id
  }
}

/** Each object once: ours reads the tail again at the end, since it may have grown. */
function distinct(objects: readonly Request[]): readonly Request[] {
  return [...new Map(objects.map((object) => [object.key, object])).values()]
}

/** Parses the objects in order while further ones are requested. */
async function getAndParse({ client, name }: Bucket, objects: readonly Request[]): Promise<number> {
  const get = async ({ key, range }: Request): Promise<Uint8Array> => {
    const command = { Bucket: name, Key: key, ...(range !== undefined && { Range: range }) }
    const { Body } = await client.send(new GetObjectCommand(command))
    return (await Body?.transformToByteArray()) ?? new Uint8Array()
  }
  const coming = objects.slice(0, AT_ONCE).map(get)
  let count = 0
  for (let i = 0; i < objects.length; i++) {
    const text = new TextDecoder().decode(await coming.shift())
    const next = objects[i + AT_ONCE]
    if (next !== undefined) coming.push(get(next))
    let from = 0
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      JSON.parse(text.slice(from, end))
      count++
      from = end + 1
    }
  }
  return count
}
