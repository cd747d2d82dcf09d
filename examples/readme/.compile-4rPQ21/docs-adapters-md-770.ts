import { createPostgresStorage } from "@sessions/postgres"
import pg from "pg"

const storage = createPostgresStorage({ client: new pg.Pool({ connectionString: process.env.DATABASE_URL }) })
export {}
