import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { folderFor } from "../../../../.config/program.ts"
import { BUCKET, makeBucket, server } from "./test-server.ts"

const README = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8")
const HERE = fileURLToPath(new URL("../..", import.meta.url))

void test("the README's serverless function runs unchanged and resumes its session", async () => {
  const [, section = ""] = README.split("### A serverless function\n")
  const code = /^```ts\n([^]*?)^```$/m.exec(section)?.[1] ?? ""
  await makeBucket()
  const { folder, remove } = folderFor(HERE)
  const script = join(folder, "example.ts")
  writeFileSync(script, code)
  const env = {
    ...process.env,
    BUCKET,
    AWS_REGION: server.region,
    AWS_ENDPOINT_URL_S3: server.endpoint,
    AWS_ACCESS_KEY_ID: server.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
  }
  try {
    const run = async (): Promise<string> => (await promisify(execFile)(process.execPath, [script], { env })).stdout
    assert.equal(await run(), "I have read 1 messages.\n")
    assert.equal(await run(), "I have read 3 messages.\n")
  } finally {
    remove()
  }
})
