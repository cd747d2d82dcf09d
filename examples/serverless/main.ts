/** The deployed module. `BUCKET` names the bucket; the SDK reads region, keys and endpoint from the environment. */
import { S3Client } from "@aws-sdk/client-s3"
import { createSessions } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"
import type { Ask } from "./answer.ts"
import { createHandler } from "./handler.ts"
import { toLambda } from "./lambda.ts"

// Created once per instance of the function; connects on the first request.
const storage = createS3Storage({
  client: new S3Client(),
  bucket: process.env["BUCKET"] ?? "",
  prefix: "agents",
  // Below the time limit of the function, so it can still respond.
  patience: 5_000,
})
const sessions = createSessions({ storage, ulidsOnly: true })

/** A stand-in for your model. */
const ask: Ask = async ({ length }) => ({
  role: "assistant",
  content: [{ type: "text", text: `I have read ${length} messages.` }],
})

/** A stand-in for your users: one shared token, in the environment variable `TOKEN`. Without it nobody has access. */
const authorize = (request: Request): boolean => {
  const token = process.env["TOKEN"] ?? ""
  return token !== "" && request.headers.get("authorization") === `Bearer ${token}`
}

/** For Workers, Deno and Bun, which use `export default { fetch }`. */
const fetch: (request: Request) => Promise<Response> = createHandler({ sessions, ask, authorize })
export default { fetch }

/** The handler of an AWS Lambda function. */
export const handler: ReturnType<typeof toLambda> = toLambda(fetch)
