/** Runs the blocks of the pages that need a database or a bucket, unchanged, with the server of the test run. */
import assert from "node:assert/strict"
import { test } from "node:test"
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { Client } from "pg"
import { isShown } from "../../../../.tools/lib/shown.mjs"
import { type Block, blocksOf, NEEDS_BUCKET, NEEDS_DATABASE, PAGES } from "../../blocks.ts"
import { newFolder } from "../../here.ts"
import { runBlocks } from "../../run.ts"

const { POSTGRES_TEST_SERVER: database, S3_TEST_SERVER: server } = process.env

function expectAll(blocks: readonly Block[], variables: Readonly<Record<string, string>>): void {
  assert.notEqual(blocks.length, 0)
  const { folder, remove } = newFolder()
  try {
    for (const [index, { printed, error }] of runBlocks(blocks, folder, variables).entries()) {
      const { place = "", prints = [] } = blocks[index] ?? {}
      assert.equal(error, undefined, place)
      if (!isShown(printed, prints)) assert.deepEqual(printed, prints, place)
    }
  } finally {
    remove()
  }
}

const blocks = PAGES.flatMap(blocksOf).filter(({ code }) => !/from "\.\.?\//.test(code))

if (database !== undefined)
  void test("each block that needs a PostgreSQL server prints what its page shows", async () => {
    const admin = new Client({ connectionString: database })
    await admin.connect()
    for (const [index, block] of blocks.filter(({ code }) => NEEDS_DATABASE.test(code)).entries()) {
      // Several have a session of one name, so each gets a database.
      const name = `pages_${process.pid}_${index}`
      await admin.query(`CREATE DATABASE ${name}`)
      const address = new URL(database)
      address.pathname = `/${name}`
      expectAll([block], { DATABASE_URL: address.href })
    }
    await admin.end()
  })

if (server !== undefined)
  void test("each block that needs a bucket prints what its page shows", async () => {
    const {
      endpoint = "",
      region = "",
      accessKeyId = "",
      secretAccessKey = "",
    } = JSON.parse(server) as Record<string, string>
    const variables = {
      BUCKET: `pages-${crypto.randomUUID().slice(0, 8)}`,
      TOKEN: "a token of the test",
      AWS_REGION: region,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    }
    const some = blocks.filter(({ code }) => NEEDS_BUCKET.test(code))
    const named = some.flatMap(({ code }) => [...code.matchAll(/bucket: "([^"]+)"/g)].map(([, name = ""]) => name))
    const client = new S3Client({
      endpoint,
      region,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    })
    for (const Bucket of new Set([variables.BUCKET, ...named])) await client.send(new CreateBucketCommand({ Bucket }))
    expectAll(some, variables)
  })
