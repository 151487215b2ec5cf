"""PPO on synthetic Atari frames (CleanRL layout); rollout storage lives on the GPU."""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from dataclasses import dataclass
from torch.distributions.categorical import Categorical


@dataclass
class Args:
    num_envs: int = 32
    num_steps: int = 64
    num_minibatches: int = 2
    update_epochs: int = 2
    iterations: int = 3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_coef: float = 0.1
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    learning_rate: float = 2.5e-4


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.xavier_uniform_(layer.weight, float(std))
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, n_actions=18):
        super().__init__()
        self.network = nn.Sequential(
            layer_init(nn.Conv2d(4, 32, 8, stride=4)), nn.ReLU(),
            layer_init(nn.Conv2d(32, 64, 4, stride=2)), nn.ReLU(),
            layer_init(nn.Conv2d(64, 64, 3, stride=1)), nn.ReLU(),
            nn.Flatten(), layer_init(nn.Linear(64 * 7 * 7, 512)), nn.ReLU())
        self.actor = layer_init(nn.Linear(512, n_actions), std=0.01)
        self.critic = layer_init(nn.Linear(512, 1), std=1)

    def get_value(self, x):
        return self.critic(self.network(x / 255.0))

    def get_action_and_value(self, x, action=None):
        hidden = self.network(x / 255.0)
        probs = Categorical(logits=self.actor(hidden), validate_args=False)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden)


args = Args()
device = torch.device("cuda")
agent = Agent().to(device)
optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

N = args.num_envs
obs = torch.zeros((args.num_steps, N, 4, 84, 84)).to(device)
actions = torch.zeros((args.num_steps, N)).to(device)
logprobs = torch.zeros((args.num_steps, N)).to(device)
rewards = torch.zeros((args.num_steps, N)).to(device)
dones = torch.zeros((args.num_steps, N)).to(device)
values = torch.zeros((args.num_steps, N)).to(device)
batch_size = args.num_steps * N
minibatch_size = batch_size // args.num_minibatches

next_obs = torch.rand(N, 4, 84, 84).to(device)
next_done = torch.zeros(N).to(device)
for iteration in range(1, args.iterations + 1):
    optimizer.param_groups[0]["lr"] = (1.0 - (iteration - 1.0) / args.iterations) * args.learning_rate
    for step in range(args.num_steps):
        obs[step] = next_obs
        dones[step] = next_done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step] = action
        logprobs[step] = logprob
        _ = action.cpu().numpy()
        frame = np.random.randint(0, 255, (N, 4, 84, 84)).astype(np.uint8)
        rewards[step] = torch.tensor(np.zeros(N, dtype=np.float32)).to(device).view(-1)
        next_obs, next_done = torch.Tensor(frame).to(device), torch.Tensor(np.zeros(N)).to(device)

    with torch.no_grad():
        next_value = agent.get_value(next_obs).reshape(1, -1)
        advantages = torch.zeros_like(rewards).to(device)
        lastgaelam = 0
        for t in reversed(range(args.num_steps)):
            nnt = 1.0 - (next_done if t == args.num_steps - 1 else dones[t + 1])
            nv = next_value if t == args.num_steps - 1 else values[t + 1]
            delta = rewards[t] + args.gamma * nv * nnt - values[t]
            advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nnt * lastgaelam
        returns = advantages + values

    b_obs = obs.reshape((-1, 4, 84, 84))
    b_logprobs, b_actions = logprobs.reshape(-1), actions.reshape(-1)
    b_adv, b_ret, b_val = advantages.reshape(-1), returns.reshape(-1), values.reshape(-1)
    b_inds = np.arange(batch_size)
    for epoch in range(args.update_epochs):
        np.random.shuffle(b_inds)
        for start in range(0, batch_size, minibatch_size):
            mb = b_inds[start:start + minibatch_size]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions.long()[mb])
            ratio = (newlogprob - b_logprobs[mb]).exp()
            adv = b_adv[mb]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            pg_loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)).mean()
            newvalue = newvalue.view(-1)
            v_clipped = b_val[mb] + torch.clamp(newvalue - b_val[mb], -args.clip_coef, args.clip_coef)
            v_loss = 0.5 * torch.max((newvalue - b_ret[mb]) ** 2, (v_clipped - b_ret[mb]) ** 2).mean()
            loss = pg_loss - args.ent_coef * entropy.mean() + v_loss * args.vf_coef
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    print("iteration", iteration, "v_loss", v_loss.item())
print("peak MiB", torch.cuda.max_memory_reserved() >> 20)
