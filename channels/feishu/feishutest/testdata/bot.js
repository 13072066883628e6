// A bot made with Lark's own library, which says on its standard output what it saw. Its
// argument is how it receives: socket or webhook.
const http = require("node:http");
const lark = require("@larksuiteoapi/node-sdk");

const { FEISHU_URL, FEISHU_APP_ID, FEISHU_APP_SECRET, FEISHU_ENCRYPT_KEY, FEISHU_TOKEN } = process.env;
const say = (what, value) => console.log(what + " " + JSON.stringify(value ?? null));
const quiet = { error: (...m) => console.error(...m), warn() {}, info() {}, debug() {}, trace() {} };
const app = { appId: FEISHU_APP_ID, appSecret: FEISHU_APP_SECRET, domain: FEISHU_URL, logger: quiet };
const client = new lark.Client(app);
const im = client.im.v1;
const card = (text, extra = {}) => JSON.stringify({
  schema: "2.0", config: { update_multi: true, ...extra },
  body: { elements: [{ tag: "markdown", element_id: "text", content: text }, {
    tag: "button", text: { tag: "plain_text", content: "Yes" }, behaviors: [{ type: "callback", value: { answer: "yes" } }],
  }] },
});

// The bot does what the message says.
const tasks = {
  async reply({ message }) {
    const data = { msg_type: "interactive", content: card("**hello**"), uuid: "key-" + message.message_id };
    const path = { message_id: message.message_id };
    const first = await im.message.reply({ path, data });
    const again = await im.message.reply({ path, data });
    say("replied", [first.data.message_id === again.data.message_id, first.data.parent_id === message.message_id, first.data.message_id]);
  },
  async create({ message, sender }) {
    const sent = await im.message.create({
      params: { receive_id_type: "open_id" }, data: { receive_id: sender.sender_id.open_id, msg_type: "text", content: '{"text":"to you"}' },
    });
    const params = { container_id_type: "chat", container_id: sent.data.chat_id, sort_type: "ByCreateTimeDesc", page_size: 50 };
    const list = await im.message.list({ params });
    say("created", [list.data.items[0].message_id === sent.data.message_id, list.data.items[0].sender.sender_type, list.data.items[0].body.content]);
  },
  async edit({ message }) {
    const sent = await im.message.create({
      params: { receive_id_type: "chat_id" }, data: { receive_id: message.chat_id, msg_type: "interactive", content: card("one") },
    });
    await im.message.patch({ path: { message_id: sent.data.message_id }, data: { content: card("two") } });
    const got = await im.message.get({ path: { message_id: sent.data.message_id }, params: { card_msg_content_type: "user_card_content" } });
    await im.message.delete({ path: { message_id: sent.data.message_id } });
    say("edited", got.data.items[0].body.content.includes("two"));
  },
  async stream({ message }) {
    const made = await client.cardkit.v1.card.create({ data: { type: "card_json", data: card("a", { streaming_mode: true }) } });
    const id = made.data.card_id;
    const sent = await im.message.create({
      params: { receive_id_type: "chat_id" },
      data: { receive_id: message.chat_id, msg_type: "interactive", content: JSON.stringify({ type: "card", data: { card_id: id } }) },
    });
    await client.cardkit.v1.cardElement.content({ path: { card_id: id, element_id: "text" }, data: { content: "abc", sequence: 1 } });
    const late = await client.cardkit.v1.cardElement.content({ path: { card_id: id, element_id: "text" }, data: { content: "x", sequence: 1 } }).catch((e) => e.response.data);
    await client.cardkit.v1.card.update({ path: { card_id: id }, data: { card: { type: "card_json", data: card("abcd") }, sequence: 2 } });
    say("streamed", [late.code, sent.data.message_id]);
  },
  async files({ message }) {
    const sent = await im.file.create({ data: { file_type: "stream", file_name: "a.csv", file: Buffer.from("a,b\n1,2") } });
    await im.message.create({
      params: { receive_id_type: "chat_id" }, data: { receive_id: message.chat_id, msg_type: "file", content: JSON.stringify({ file_key: sent.file_key }) },
    });
    const { image_key } = JSON.parse(message.content);
    const got = await im.messageResource.get({ path: { message_id: message.message_id, file_key: image_key }, params: { type: "image" } });
    let size = 0;
    for await (const chunk of got.getReadableStream()) size += chunk.length;
    say("files", size);
  },
  async react({ message }) {
    const path = { message_id: message.message_id };
    const added = await im.messageReaction.create({ path, data: { reaction_type: { emoji_type: "Typing" } } });
    const list = await im.messageReaction.list({ path, params: { reaction_type: "Typing" } });
    await im.messageReaction.delete({ path: { ...path, reaction_id: added.data.reaction_id } });
    say("reacted", [list.data.items.length, list.data.items[0].operator.operator_type]);
  },
  async people({ message, sender }) {
    const user = await client.contact.v3.user.get({ path: { user_id: sender.sender_id.open_id }, params: { user_id_type: "open_id" } });
    const members = await im.chatMembers.get({ path: { chat_id: message.chat_id }, params: { member_id_type: "open_id" } });
    const chat = await im.chat.get({ path: { chat_id: message.chat_id } });
    say("people", [user.data.user.name, members.data.items.length, chat.data.name]);
  },
  async refused({ message }) {
    const data = { receive_id: "oc_nowhere", msg_type: "text", content: '{"text":"x"}' };
    const failed = await im.message.create({ params: { receive_id_type: "chat_id" }, data }).catch((e) => e.response.data);
    say("refused", failed.code);
  },
  async fail() {
    throw new Error("not now");
  },
};

const dispatcher = new lark.EventDispatcher({ encryptKey: FEISHU_ENCRYPT_KEY, verificationToken: FEISHU_TOKEN, logger: quiet }).register({
  "im.message.receive_v1": async (event) => {
    const task = event.message.message_type === "image" ? "files" : JSON.parse(event.message.content).text;
    const known = tasks[task.split(" ")[0]];
    say("got", [task.length, event.sender.sender_id.open_id, event.message.mentions?.[0]?.name]);
    if (known) await known(event);
  },
  "card.action.trigger": async (event) => {
    say("clicked", [event.action.value.answer, event.operator.open_id]);
    return { toast: { type: "info", content: "thanks" } };
  },
});

if (process.argv[2] === "socket") {
  new lark.WSClient({ ...app, wsConfig: { pingTimeout: 5 }, onReady: () => say("ready", 0) }).start({ eventDispatcher: dispatcher });
} else {
  const server = http.createServer(lark.adaptDefault("/feishu", dispatcher, { autoChallenge: true }));
  server.listen(0, "127.0.0.1", () => say("ready", server.address().port));
}
