/** A bucket on the server that `pnpm bench` started, with a client that counts requests. */
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"

export interface Bucket {
  readonly client: S3Client
  readonly name: string
  /** The requests since the last call. */
  readonly requests: () => readonly Request[]
}

export interface Request {
  /** The SDK's name, e.g. `GetObject`. */
  readonly kind: string
  readonly key: string
  readonly range?: string
  readonly body?: Uint8Array
}

interface Server {
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export async function makeBucket(): Promise<Bucket> {
  const { endpoint, region, ...credentials } = JSON.parse(process.env["S3_BENCH_SERVER"] ?? "null") as Server
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials })
  const name = `bench-${crypto.randomUUID().slice(0, 8)}`
  await client.send(new CreateBucketCommand({ Bucket: name }))
  let asked: Request[] = []
  client.middlewareStack.add(
    (next, context) => (args) => {
      const { Key = "", Range, Body } = args.input as { Key?: string; Range?: string; Body?: unknown }
      asked.push({
        kind: String((context as { commandName?: string }).commandName).replace(/Command$/, ""),
        key: Key,
        ...(Range !== undefined && { range: Range }),
        ...(Body instanceof Uint8Array && { body: Body }),
      })
      return next(args)
    },
    // After the retry middleware, so that each attempt counts.
    { step: "finalizeRequest", priority: "low", name: "count" },
  )
  return {
    client,
    name,
    requests() {
      const all = asked
      asked = []
      return all
    },
  }
}

/** Counts requests by name. */
export function countByKind(requests: readonly Request[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { kind } of requests) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
