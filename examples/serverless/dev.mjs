// `npm run dev`: serves the handler on loopback, over an S3 server that it starts. Ctrl-C stops both.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { fileURLToPath } from "node:url"
import { missingFromSystem, system } from "../../.tools/lib/debian.mjs"
import { install } from "../../.tools/lib/install.mjs"
import { newestNode } from "../../.tools/lib/runtimes.mjs"
import { s3Server } from "../../.tools/lib/s3-server.mjs"

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

// Before the listener that ends a test run with a failure. The S3 server is stopped at exit.
for (const signal of ["SIGINT", "SIGTERM"]) process.prependListener(signal, () => process.exit(0))

if (!(await install())) process.exit(1)
const env = process.env.BUCKET === undefined ? await startBucket() : {}
const flags = [
  "--conditions=@sessions/source",
  "--import",
  new URL("../../.tools/typescript.mjs", import.meta.url).href,
]
const server = spawn(newestNode(), [...flags, here("serve.ts")], {
  stdio: "inherit",
  env: { ...process.env, TOKEN: process.env.TOKEN ?? randomUUID(), ...env },
})
process.once("exit", () => server.kill())
server.once("close", (code) => process.exit(code ?? 1))

/** A new bucket on a server of our own, as the environment that the SDK reads. */
async function startBucket() {
  const reason = missingFromSystem(system.s3)
  if (reason !== undefined) {
    console.error(`The local S3 server ${reason}.
Or set BUCKET, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL_S3 for a store other than S3,
to use a bucket that you have.`)
    process.exit(1)
  }
  const { endpoint, region, accessKeyId, secretAccessKey } = await s3Server()
  const { CreateBucketCommand, S3Client } = await import("@aws-sdk/client-s3")
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } })
  await client.send(new CreateBucketCommand({ Bucket: "sessions" }))
  return {
    BUCKET: "sessions",
    AWS_REGION: region,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  }
}
