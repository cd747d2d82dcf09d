/** The adapter with the client of the SDK, over loopback, in front of a bucket in memory: its requests meet other answers on the way. */
import { S3Client } from "@aws-sdk/client-s3"
import type { Subject } from "@sessions/conformance"
import { startProxy } from "@sessions/conformance/proxy"
import { createS3Storage } from "../src/index.ts"
import { serveBucket } from "./bucket-server.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { openStorage, SMALL_SIZES } from "./open-storage.ts"

/** Short: requests without an answer are many, and most others fail until the patience is over. With segments of 4 KB, to have some. */
const LIMITS = { requestTimeout: 1_000, patience: 300, ...SMALL_SIZES }

/** Some of each kind, for a test that must be quick. */
export const FEW: readonly string[] = [
  "200 with a page, done",
  "404 with a page, instead",
  "a connection that breaks, done",
  "cut off",
  "twice",
  "with another ETag",
  "the request sent twice",
  "the request later",
]

export const onNetwork = (names: readonly string[]): Subject<FakeBucket> => ({
  name: "s3",
  makeLocation: () => new FakeBucket(),
  open: (bucket) => openStorage(bucket, SMALL_SIZES).storage,
  network: {
    names,
    async open(bucket, meet) {
      const { url, arrive, close } = await startProxy((address, init) => serveBucket(bucket, address, init), meet)
      const client = new S3Client({
        endpoint: url,
        region: "us-east-1",
        forcePathStyle: true,
        maxAttempts: 1,
        credentials: { accessKeyId: "a", secretAccessKey: "b" },
      })
      // The proof of conditional writes needs a network without faults.
      const storage = createS3Storage({ client, bucket: "bucket", etags: "quoted", ...LIMITS })
      return {
        arrive,
        storage: {
          ...storage,
          async [Symbol.asyncDispose]() {
            await storage[Symbol.asyncDispose]()
            client.destroy()
            await close()
          },
        },
      }
    },
  },
})
