import { createPostgresStorage } from "@sessions/postgres"
import pg from "pg"

const storageOf = (tenant: string) =>
  createPostgresStorage({ client: new pg.Pool({ user: `tenant_${tenant}` }), schema: `tenant_${tenant}` })
export {}
