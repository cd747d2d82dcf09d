/** A client of the storage in S3, through an endpoint that may inject faults. */
import { createS3Storage } from "@sessions/s3"
import { createClient } from "../../../../packages/s3/test/server/test-server.ts"
import { serve } from "./process.ts"

interface Place {
  readonly endpoint: string
  readonly bucket: string
  readonly prefix: string
}

/** Small, so that a log of some hundred lines is sealed and merged. */
const SIZES = { tailBytes: 12_000, segmentBytes: 8_000, mergedBytes: 32_000 }
const TIMES = { requestTimeout: 2_000, patience: 5_000 }

await serve(({ place }) => {
  const { endpoint, bucket, prefix } = place as Place
  return createS3Storage({ client: createClient({ endpoint }), bucket, prefix, etags: "bare", ...SIZES, ...TIMES })
})
