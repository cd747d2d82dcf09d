// Starts a real S3 server on loopback: Ceph's gateway over one object store in memory, without systemd and authentication inside.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { run } from "./run.mjs"
import { scratch } from "./scratch.mjs"

let starting

/** Starts the server once in a process and stops it at exit. Returns its endpoint, region and keys. */
export function s3Server() {
  starting ??= start()
  return starting
}

async function start() {
  const dir = mkdtempSync(join(scratch(), "sessions-s3-"))
  const children = []
  // Exit listeners can only run synchronous code.
  process.once("exit", () => {
    for (const child of children) child.kill("SIGKILL")
    rmSync(dir, { recursive: true, force: true })
  })
  const ports = { monitor: await freePort(), gateway: await freePort() }
  const cluster = randomUUID()
  for (const name of ["mon", "osd", "run", "log"]) mkdirSync(join(dir, name))
  const configuration = join(dir, "ceph.conf")
  writeFileSync(configuration, configurationOf(dir, cluster, ports))
  const env = { CEPH_CONF: configuration }

  const command = async (name, args) => {
    const { code, output } = await run(name, args, { env })
    if (code !== 0) throw new Error(`${name} ${args.join(" ")} failed:\n${output}`)
  }
  const daemon = (name, args) => {
    const log = openSync(join(dir, "log", `${name}.out`), "a")
    const options = { env: { ...process.env, ...env }, stdio: ["ignore", log, log] }
    const child = spawn(name, [...args, "--no-mon-config", "--foreground"], options)
    child.once("error", () => undefined)
    // The daemon must not keep this process alive.
    child.unref()
    children.push(child)
  }

  const map = join(dir, "monmap")
  const monitor = `127.0.0.1:${ports.monitor}`
  await command("monmaptool", ["--create", "--clobber", "--add", "a", monitor, "--fsid", cluster, map])
  await command("ceph-mon", ["--mkfs", "-i", "a", "--monmap", map, "--keyring", "/dev/null"])
  daemon("ceph-mon", ["-i", "a"])
  const store = randomUUID()
  await until(() => command("ceph", ["--connect-timeout", "2", "osd", "new", store]))
  await command("ceph-osd", ["-i", "0", "--mkfs", "--osd-uuid", store])
  daemon("ceph-osd", ["-i", "0"])
  daemon("radosgw", ["-n", "client.rgw"])
  const users = await Promise.all([createUser(command, "owner"), createUser(command, "stranger")])
  const endpoint = `http://127.0.0.1:${ports.gateway}`
  await until(async () => {
    if (!(await fetch(endpoint)).ok) throw new Error("not yet")
  })
  return { endpoint, region: "us-east-1", ...users[0], stranger: users[1] }
}

async function createUser(command, name) {
  const keys = { accessKeyId: `key-of-${name}`, secretAccessKey: randomUUID() }
  const given = [`--uid=${name}`, `--display-name=${name}`, `--access-key=${keys.accessKeyId}`]
  await command("radosgw-admin", ["-n", "client.rgw", "user", "create", ...given, `--secret=${keys.secretAccessKey}`])
  return keys
}

/** Retries, since each daemon takes some hundred milliseconds to start. The limit only ends a hang. */
async function until(act) {
  for (const end = Date.now() + 600_000; ; await sleep(50)) {
    try {
      return await act()
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

function configurationOf(dir, cluster, { monitor, gateway }) {
  return `[global]
fsid = ${cluster}
mon host = 127.0.0.1:${monitor}
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
run dir = ${dir}/run
log file = ${dir}/log/$name.$pid.log
admin socket =
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
ms mon client mode = crc secure
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
osd data = ${dir}/osd
mon data = ${dir}/mon
mon allow pool size one = true
mon data avail warn = 0
mon data avail crit = 0
paxos propose interval = 0.01
paxos min wait = 0.01
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${gateway} tcp_nodelay=1
rgw thread pool size = 32
rgw dynamic resharding = false
rgw override bucket index max shards = 1
`
}
