/** The S3 server that the test run has started, and places on it. Its address comes in the environment. */
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import type { S3Storage, S3StorageOptions } from "@sessions/s3"
import { createS3Storage } from "@sessions/s3"

export interface Server {
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Somebody with keys of their own, to whom nothing here belongs. */
  readonly stranger: Pick<Server, "accessKeyId" | "secretAccessKey">
}

export const server: Server = JSON.parse(process.env["S3_TEST_SERVER"] ?? "null") as Server

export function createClient(o: Partial<Server> = {}): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey } = { ...server, ...o }
  return new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } })
}

export const client: S3Client = createClient()

const RUN = crypto.randomUUID().slice(0, 8)
export const BUCKET = `sessions-${RUN}`

let made: Promise<void> | undefined
/** Once for all who want it. */
export function makeBucket(): Promise<void> {
  made ??= client.send(new CreateBucketCommand({ Bucket: BUCKET })).then(() => undefined)
  return made
}

let places = 0
export function newPrefix(): string {
  places++
  return `place-${places}`
}

export function openAt(prefix: string, options: Partial<S3StorageOptions> = {}): S3Storage {
  return createS3Storage({ client, bucket: BUCKET, prefix, ...options })
}

/** From another process. */
export function openIn(bucket: string, prefix: string): S3Storage {
  return createS3Storage({ client, bucket, prefix })
}
