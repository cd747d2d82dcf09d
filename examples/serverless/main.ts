/** What is deployed. `BUCKET` names the bucket; region, keys and endpoint come from the environment, as the SDK takes them. */
import { S3Client } from "@aws-sdk/client-s3"
import { createSessions } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"
import type { Ask } from "./answer.ts"
import { createHandler } from "./handler.ts"
import { toLambda } from "./lambda.ts"

// Made once for each instance of the function; connects with its first request.
const storage = createS3Storage({
  client: new S3Client(),
  bucket: process.env["BUCKET"] ?? "",
  prefix: "agents",
  // Below the function's own time limit, so that it can still answer.
  patience: 5_000,
})
const sessions = createSessions({ storage, ulidsOnly: true })

/** A stand-in: here your model is called. */
const ask: Ask = async ({ length }) => ({
  role: "assistant",
  content: [{ type: "text", text: `I have read ${length} messages.` }],
})

/** `export default { fetch }` of Workers, Deno and Bun. */
const fetch: (request: Request) => Promise<Response> = createHandler({ sessions, ask })
export default { fetch }

/** The handler of an AWS Lambda function. */
export const handler: ReturnType<typeof toLambda> = toLambda(fetch)
