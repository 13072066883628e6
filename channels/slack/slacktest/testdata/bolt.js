// A bot on Slack's own library: `node bolt.js socket|http`. It says "ready PORT"
// once it listens; PORT is 0 in Socket Mode.
const { App } = require('@slack/bolt');

const { SLACK_API_URL, SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET } = process.env;
const socketMode = process.argv[2] === 'socket';
const app = new App({
  token: SLACK_BOT_TOKEN,
  clientOptions: { slackApiUrl: SLACK_API_URL },
  ...(socketMode ? { socketMode, appToken: SLACK_APP_TOKEN } : { signingSecret: SLACK_SIGNING_SECRET }),
});

app.event('app_mention', async ({ event, say, client }) => {
  const { channel, ts } = event;
  const posted = await say({
    text: 'May I?',
    thread_ts: ts,
    metadata: { event_type: 'reply', event_payload: { id: 'o1' } },
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: 'May I?' } },
      { type: 'actions', elements: [{ type: 'button', action_id: 'approve', value: 'a1', text: { type: 'plain_text', text: 'Yes' } }] },
    ],
  });
  const { messages } = await client.conversations.replies({ channel, ts, include_all_metadata: true });
  const found = messages.find((m) => m.metadata?.event_payload.id === 'o1');
  if (found?.ts === posted.ts) await client.reactions.add({ channel, timestamp: ts, name: 'white_check_mark' });
});

app.action('approve', async ({ ack, body, action, respond }) => {
  await ack();
  await respond({ replace_original: true, text: `${action.value} approved by <@${body.user.id}>` });
});

app.command('/holdfast', async ({ ack, command }) => ack({ response_type: 'in_channel', text: `on it: ${command.text}` }));

app.message('upload', async ({ message, client }) => {
  await client.filesUploadV2({
    channel_id: message.channel, thread_ts: message.ts, filename: 'report.csv', title: 'The report', content: 'a,b\n1,2', initial_comment: 'here',
  });
});

app.message('stream', async ({ message, client, context }) => {
  const stream = client.chatStream({
    channel: message.channel, thread_ts: message.ts, recipient_team_id: context.teamId, recipient_user_id: message.user, buffer_size: 1,
  });
  for (const markdown_text of ['one ', 'two ', 'three']) await stream.append({ markdown_text });
  await stream.stop({ metadata: { event_type: 'reply', event_payload: { id: 'o2' } } });
});

(async () => {
  const server = await app.start(...(socketMode ? [] : [{ port: 0, host: '127.0.0.1' }]));
  console.log(`ready ${socketMode ? 0 : server.address().port}`);
})();
