import { S3Client } from "@aws-sdk/client-s3"
import { createSessions } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"

const sessions = createSessions({ storage: createS3Storage({ client: new S3Client(), bucket: "agents" }) })
const session = await sessions.openOrCreate("01K8ZQ4Y9G3V5N7B2M6X0CTRPD")
export {}
