/** Clients and storages for the S3 server of the test run, whose address is in the environment variable S3_TEST_SERVER. */
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { createS3Storage, type S3Storage, type S3StorageOptions } from "@sessions/s3"

export interface Server {
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Credentials of another user, without permissions for the test bucket. */
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

let created: Promise<void> | undefined
/** Creates the bucket at the first call. */
export function makeBucket(): Promise<void> {
  created ??= client.send(new CreateBucketCommand({ Bucket: BUCKET })).then(() => undefined)
  return created
}

let prefixes = 0
export function newPrefix(): string {
  prefixes++
  return `location-${prefixes}`
}

export function openAt(prefix: string, options: Partial<S3StorageOptions> = {}): S3Storage {
  return createS3Storage({ client, bucket: BUCKET, prefix, ...options })
}

/** For a bucket that another process has created. */
export function openIn(bucket: string, prefix: string): S3Storage {
  return createS3Storage({ client, bucket, prefix })
}
