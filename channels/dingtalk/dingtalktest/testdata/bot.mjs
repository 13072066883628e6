// A bot that uses DingTalk's own Node library. Its addresses are constants, so they are
// rewritten on the way.
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.PEERS, "package.json"));
const axios = require("axios");
const { DWClient, TOPIC_ROBOT, TOPIC_CARD } = require("dingtalk-stream");

const base = process.env.DINGTALK_URL;
axios.interceptors.request.use((request) => {
  request.url = request.url.replace(/^https:\/\/(o?api)\.dingtalk\.com/, base);
  return request;
});

const client = new DWClient({ clientId: process.env.CLIENT_ID, clientSecret: process.env.CLIENT_SECRET, keepAlive: true });
client.reconnectInterval = 50;
client.registerCallbackListener(TOPIC_ROBOT, async (frame) => {
  const message = JSON.parse(frame.data);
  const token = await client.getAccessToken();
  await axios.post(
    "https://api.dingtalk.com/v1.0/robot/oToMessages/batchSend",
    {
      robotCode: message.robotCode,
      userIds: [message.senderStaffId],
      msgKey: "sampleMarkdown",
      msgParam: JSON.stringify({ title: "echo", text: "echo: " + message.text.content.trim() }),
    },
    { headers: { "x-acs-dingtalk-access-token": token } },
  );
  client.socketCallBackResponse(frame.headers.messageId, { status: "ok" });
});
client.registerCallbackListener(TOPIC_CARD, (frame) => {
  const click = JSON.parse(frame.data);
  console.log("click", click.outTrackId, click.userId, JSON.parse(click.content).cardPrivateData.actionIds[0]);
  client.socketCallBackResponse(frame.headers.messageId, {});
});
await client.connect();
